/** Check 4: browsers say from which page a request comes, and only named ones may ask. */
import { RefusedRequest } from "./refusals.ts";

/**
 * The headers with which a browser lets the page read the answer; none without an `Origin`, as programs ask. Throws
 * `origin-unknown`, also for `null`.
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
