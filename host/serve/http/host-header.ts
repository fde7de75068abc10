/** Check 3: the server is asked by a name of its own, so that a page whose name was bent to this address asks in vain. */
import { isLoopback, isWildcard } from "../loopback.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { RefusedRequest } from "./refusals.ts";

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** Lower case, without ports. Throws a `RangeError` when there is none: nobody could ask. */
export function allowedHostNames(options: Pick<HttpServeOptions, "host" | "allowedHosts" | "publicUrl">): Set<string> {
  const { host, allowedHosts, publicUrl } = options;
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  if (!isWildcard(host)) names.add(host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase());
  if (isLoopback(host)) for (const name of loopbackNames) names.add(name);
  if (publicUrl !== null) names.add(new URL(publicUrl).hostname);
  if (names.size > 0) return names;
  throw new RangeError(`Cannot serve on every address: allowedHosts is empty, allowed: the names by which clients ask`);
}

/** Throws `host-unknown`. */
export function checkHost(host: string | undefined, names: ReadonlySet<string>): void {
  const name = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::\d{1,5})?$/i.exec(host ?? "")?.[1];
  if (name === undefined || !names.has(name.toLowerCase())) throw new RefusedRequest("host-unknown");
}
