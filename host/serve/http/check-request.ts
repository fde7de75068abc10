/** Checks 1 to 4: what is asked for, under which name of the server, and from whose page. None of them reads more than headers. */
import { isLoopback, isWildcard } from "../loopback.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { RefusedRequest } from "./refusals.ts";

const methods = {
  mcp: ["POST", "GET", "DELETE", "OPTIONS"],
  health: ["GET", "HEAD"],
  readiness: ["GET", "HEAD"],
  metadata: ["GET", "HEAD", "OPTIONS"],
} as const satisfies Record<string, readonly string[]>;

export type TargetKind = keyof typeof methods;

export interface Targets {
  readonly path: string;
  /** Where clients learn who issues tokens, when there is a public URL. */
  readonly metadataPath: string | null;
}

/**
 * Check 1: what is asked for, by its exact path. Nothing is decoded, joined or guessed: other ways to write a path are not
 * the path. Throws `query-present`, for that is where tokens end up in logs, `path-unknown` or `method-unknown`.
 */
export function checkTarget(url: string, method: string, targets: Targets): TargetKind {
  const kind = kindOf(url, targets);
  if (!kind) {
    const path = url.split("?", 1)[0] ?? "";
    throw new RefusedRequest(path !== url && kindOf(path, targets) ? "query-present" : "path-unknown");
  }
  const allowed: readonly string[] = methods[kind];
  if (allowed.includes(method)) return kind;
  throw new RefusedRequest("method-unknown", { headers: { Allow: allowed.join(", ") } });
}

function kindOf(path: string, targets: Targets): TargetKind | null {
  if (path === targets.path) return "mcp";
  if (path === "/healthz") return "health";
  if (path === "/readyz") return "readiness";
  return path === targets.metadataPath ? "metadata" : null;
}

const singles = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin",
  "transfer-encoding",
]);

/**
 * Check 2: headers that decide something are there once. Node drops or joins the second, a proxy may go by it. Takes names
 * and values in turn, as they came. Throws `header-repeated`.
 */
export function checkSingleHeaders(rawHeaders: readonly string[]): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const present = names.filter((name) => singles.has(name));
  if (new Set(present).size < present.length) throw new RefusedRequest("header-repeated");
}

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

/**
 * Check 3: the server is asked by a name of its own, so that a page whose name was bent to this address asks in vain. Throws
 * `host-unknown`.
 */
export function checkHost(host: string | undefined, names: ReadonlySet<string>): void {
  const name = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::\d{1,5})?$/i.exec(host ?? "")?.[1];
  if (name === undefined || !names.has(name.toLowerCase())) throw new RefusedRequest("host-unknown");
}

/**
 * Check 4: browsers say from which page a request comes, and only named ones may ask. The headers with which a browser lets
 * the page read the answer; none without an `Origin`, as programs ask. Throws `origin-unknown`, also for `null`.
 */
export function checkOrigin(origin: string | undefined, allowed: ReadonlySet<string>): Record<string, string> {
  if (origin === undefined) return {};
  if (origin === "null" || !allowed.has(origin)) throw new RefusedRequest("origin-unknown");
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate, Retry-After",
    Vary: "Origin",
  };
}

/** What a browser asks before the request itself. The answer is the same for every page that may ask. */
export const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, POST, DELETE",
  "Access-Control-Allow-Headers":
    "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id",
  "Access-Control-Max-Age": "600",
} as const;
