/** Check 2: headers that decide something are there once. Node drops or joins the second, a proxy may go by it. */
import { RefusedRequest } from "./refusals.ts";

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

/** Throws `header-repeated`. Takes names and values in turn, as they came. */
export function checkSingleHeaders(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!singles.has(name)) continue;
    if (seen.has(name)) throw new RefusedRequest("header-repeated");
    seen.add(name);
  }
}
