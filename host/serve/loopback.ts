/** Whether an address to listen on, as it is written, is of this machine alone. Names but `localhost` are not looked up. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}|::1|\[::1\])$/i.test(host);
}

/** Whether what is asked there, or told of it, can be believed: over TLS, or on this machine. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** Whether it stands for all addresses of the machine. */
export function isWildcard(host: string): boolean {
  return /^[0.:[\]]*$/.test(host);
}
