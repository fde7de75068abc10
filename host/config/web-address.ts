import { isSafeAddress } from "../serve/loopback.ts";

/** Whether a text is a URL, not a file name. */
export function isUrl(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text);
}

/** `https:`, or `http:` on a loopback address, without a password, a query or a fragment. */
export function isSafeUrl(text: string): boolean {
  const url = parse(text);
  return url?.username === "" && url.password === "" && !/[?#]/.test(text) && isSafeAddress(url);
}

/** Whether a text is an origin as browsers send it: nothing after host and port, no default port, lower case. */
export function isOrigin(text: string): boolean {
  const url = parse(text);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.origin === text;
}

/** Whether a text is `HOST:PORT`, with a name, an IPv4 address, or an IPv6 address in brackets. */
export function isAddress(text: string): boolean {
  const port = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(0|[1-9]\d{0,4})$/.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}

function parse(text: string): URL | null {
  return text.length <= 2_048 && isUrl(text) && URL.canParse(text) ? new URL(text) : null;
}

/** An address of a database without a password. A host can be missing, as for a socket in a folder. */
export function isDatabaseUrl(text: string): boolean {
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)\/([^/?#]+)(?:\?([^#]*))?$/.exec(text);
  if (parts === null || text.length > 1_024 || /[\p{Cc}\p{Cs}\s]/u.test(text)) return false;
  const [, role = "", , , query = ""] = parts;
  return !role.includes(":") && !new URLSearchParams(query).has("password");
}
