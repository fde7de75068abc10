/** Checks 1 to 4: the target, the server's name, and the page's origin. They read only headers. */
import { isLoopback, isWildcard } from "../loopback.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { isStoragePath, methodsOf, storageTargetOf } from "../storage/storage-target.ts";
import type { StorageTarget } from "../storage/storage-target.ts";
import { RefusedRequest } from "./refusals.ts";
import type { BodyForm } from "./refusals.ts";
import { metadataRoot } from "./resource-metadata.ts";

const methods = {
  mcp: ["POST", "GET", "DELETE", "OPTIONS"],
  health: ["GET", "HEAD"],
  readiness: ["GET", "HEAD"],
  metadata: ["GET", "HEAD", "OPTIONS"],
} as const satisfies Record<string, readonly string[]>;

type PlainKind = keyof typeof methods;

/** Where a storage request goes. */
export interface StorageAddress {
  readonly kind: "storage";
  readonly storage: StorageTarget;
  /** Without its question mark. */
  readonly query: string;
}

/** A screen of the page, or what it sends. */
export interface PageAddress {
  readonly kind: "page";
  /** The names below the page's path, decoded once. */
  readonly names: readonly string[];
  readonly query: string;
}

export type Target = { readonly kind: PlainKind } | StorageAddress | PageAddress;

export interface Targets {
  /** The path of MCP; `null` if it is not served. */
  readonly path: string | null;
  /** The path of the page; `null` if there is none. */
  readonly pagePath: string | null;
  /** The path of the token issuer's metadata; `null` without a public URL. */
  readonly metadataPath: string | null;
  /** Whether there are storage routes. */
  readonly hasStorage: boolean;
}

/** The form of every failure at an address, also where there is no target. */
export function bodyFormAt(url: string, { hasStorage, pagePath }: Targets): BodyForm {
  const [path = ""] = url.split("?");
  if (isBelow(path, pagePath)) return "page";
  return hasStorage && isStoragePath(path) ? "storage" : "json-rpc";
}

/**
 * Check 1: finds the target by its exact path, without decoding or normalising it. Throws `path-unknown`,
 * `method-unknown` or `query-present`: tokens in a query would get into logs. Only storage routes and the page have queries,
 * and the page takes closed words only.
 */
export function checkTarget(url: string, method: string, targets: Targets): Target {
  const [path = "", ...queries] = url.split("?");
  const storage = targets.hasStorage ? storageTargetOf(path) : null;
  if (storage !== null) {
    checkMethod(method, methodsOf(storage));
    return { kind: "storage", storage, query: queries.join("?") };
  }
  if (isBelow(path, targets.pagePath)) {
    checkMethod(method, ["GET", "POST"]);
    return { kind: "page", names: namesBelow(path, targets.pagePath), query: queries.join("?") };
  }
  const kind = kindOf(url, targets);
  if (!kind) throw new RefusedRequest(path !== url && kindOf(path, targets) ? "query-present" : "path-unknown");
  checkMethod(method, methods[kind]);
  return { kind };
}

function checkMethod(method: string, allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  throw new RefusedRequest("method-unknown", { headers: { Allow: allowed.join(", ") } });
}

function kindOf(path: string, targets: Targets): PlainKind | null {
  if (isPath(path, targets.path)) return "mcp";
  if (path === "/healthz") return "health";
  if (path === "/readyz") return "readiness";
  if (targets.metadataPath === null) return null;
  return isPath(path, targets.metadataPath) || path === metadataRoot ? "metadata" : null;
}

/** With or without one slash at the end, which clients and proxies add. */
const isPath = (path: string, ours: string | null): boolean => ours !== null && (path === ours || path === `${ours}/`);

const isBelow = (path: string, ours: string | null): ours is string =>
  ours !== null && (path === ours || path.startsWith(`${ours}/`));

/** Throws `path-unknown` for an empty name, for a step, and for one that is no UTF-8 text. */
function namesBelow(path: string, ours: string): string[] {
  const names = path.slice(ours.length + 1).split("/");
  try {
    const decoded = names.map(decodeURIComponent);
    if (decoded.length === 1 && decoded[0] === "") return [];
    if (decoded.some((name) => ["", ".", ".."].includes(name))) throw new RefusedRequest("path-unknown");
    return decoded;
  } catch (cause) {
    throw new RefusedRequest("path-unknown", { cause });
  }
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
  "origin",
  "sec-fetch-site",
  "transfer-encoding",
  "x-api-key",
]);

/**
 * Check 2: headers that influence a decision occur at most once. Node drops or joins a second one, but a proxy could
 * use it. Takes names and values alternately, as received. Throws `header-repeated`.
 */
export function checkSingleHeaders(rawHeaders: readonly string[]): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const present = names.filter((name) => singles.has(name));
  if (new Set(present).size < present.length) throw new RefusedRequest("header-repeated");
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** The allowed names in lower case, without ports. Throws a `RangeError` when there is none. */
export function allowedHostNames(options: Pick<HttpServeOptions, "host" | "allowedHosts" | "publicUrl">): Set<string> {
  const { host, allowedHosts, publicUrl } = options;
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  if (!isWildcard(host)) names.add(host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase());
  if (isLoopback(host)) for (const name of loopbackNames) names.add(name);
  if (publicUrl !== null) names.add(new URL(publicUrl).hostname);
  if (names.size > 0) return names;
  throw new RangeError(
    "Cannot serve on every address: allowedHosts is empty, allowed: the host names that clients use",
  );
}

/**
 * Check 3: the `Host` header has an allowed name. This stops DNS rebinding: a page whose name was pointed at this
 * address. Throws `host-unknown`.
 */
export function checkHost(host: string | undefined, names: ReadonlySet<string>): void {
  const name = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i.exec(host ?? "")?.[1];
  if (name === undefined || !names.has(name.toLowerCase())) throw new RefusedRequest("host-unknown");
}

/**
 * Check 4: the page's origin is allowed. Returns the headers that let the page read the answer, or none if there is no
 * `Origin`, because then no browser page sent the request. Throws `origin-unknown`, also for `null`.
 */
export function checkOrigin(origin: string | undefined, allowed: ReadonlySet<string>): Record<string, string> {
  if (origin === undefined) return {};
  if (origin === "null" || !allowed.has(origin)) throw new RefusedRequest("origin-unknown");
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After",
    Vary: "Origin",
  };
}

/** The answer to a browser's preflight, the same for every allowed origin. */
export const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, POST, DELETE",
  "Access-Control-Allow-Headers":
    "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id",
  "Access-Control-Max-Age": "600",
} as const;
