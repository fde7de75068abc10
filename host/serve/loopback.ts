/** Addresses to listen on, and which of them only this machine reaches. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { MetricsAddress } from "./serve-options.ts";

/** Whether a listen address is a loopback address, by its text alone. The only known name is `localhost`. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}|::1|\[::1\])$/i.test(host);
}

/** Whether answers from this URL can be trusted: over TLS, or on this machine. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** Makes a server listen. Rejects with the system's error. */
export async function listenAt(
  server: Server,
  { host, port }: MetricsAddress,
): Promise<AddressInfo & { origin: string }> {
  const name = host.replace(/^\[|\]$/g, "");
  server.listen({ host: name, port });
  await once(server, "listening");
  const found = server.address() as AddressInfo;
  return { ...found, origin: `http://${name.includes(":") ? `[${name}]` : name}:${found.port}` };
}

/** Whether a listen address means all addresses of the machine. */
export function isWildcard(host: string): boolean {
  return /^[0.:[\]]*$/.test(host);
}
