/** Other ways to write the path, other paths, and other methods. */
import { readPlan, withHeaders } from "./asking.ts";
import { asAlice, refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import type { Victim } from "./stage.ts";

const target = (title: string, expected: Expected, make: (victim: Victim) => string): Attack =>
  row(title, expected, (victim) => ({ ...readPlan, target: make(victim) }));

const unknown = refused(404, "path-unknown", "nobody");
const query = refused(404, "query-present", "nobody");
const malformed = refused(400, "http-malformed", "nobody");

const spellings = [
  "/mcp/",
  "//mcp",
  "/./mcp",
  "/mcp/.",
  "/mcp/../mcp",
  "/x/../mcp",
  "/mcp;user=alice",
  "/mcp%00",
  "/mcp%20",
  "/mcp.",
  "/%6dcp",
  "/%2fmcp",
  "/MCP",
  "/mcp\\",
  "/mcp#x",
  "*",
  "/",
  "/mcp,/mcp",
  "http://127.0.0.1/mcp",
  "http://evil.example/mcp",
  "https://127.0.0.1/mcp",
  "//127.0.0.1/mcp",
  "file:///mcp",
];

const elsewhere = [
  "/favicon.ico",
  "/sse",
  "/messages",
  "/admin",
  "/metrics",
  "/debug/pprof",
  "/.env",
  "/.git/config",
  "/users",
  "/tools",
  "/audit.jsonl",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/openid-configuration",
  "/healthz/",
  "/healthz/../mcp",
  "/readyz/x",
];

const paths: Attack[] = [
  ...[...spellings, ...elsewhere].map((path) => target(`the path ${path}`, unknown, () => path)),
  target("the victim below the path", unknown, ({ userId }) => `/mcp/${userId}`),
  target("the victim before the path", unknown, ({ userId }) => `/${userId}/mcp`),
  target("the victim as a parameter of the path", unknown, ({ userId }) => `/mcp;user=${userId}`),
  target("the victim before the host", unknown, ({ userId }) => `http://${userId}@127.0.0.1/mcp`),
  target("the victim's folder", unknown, ({ userId }) => `/data/users/${userId}/memory/MEMORY.md`),
  target(
    "the victim's folder through dots",
    unknown,
    ({ userId }) => `/mcp/../../../../data/users/${userId}/memory/MEMORY.md`,
  ),
  target("the victim's session as a path", unknown, ({ session }) => `/mcp/${session}`),
  target("the victim in the query", query, ({ userId }) => `/mcp?user=${userId}`),
  target("the victim's session in the query", query, ({ session }) => `/mcp?sessionId=${session}`),
  target("an empty query", query, () => "/mcp?"),
  target("a query at the health check", query, ({ userId }) => `/healthz?user=${userId}`),
  target("8,000 characters", unknown, () => `/mcp/${"a".repeat(8_000)}`),
  ...["mcp", "%2fmcp", "\\mcp"].map((path) => target(`${path} without a slash before it`, malformed, () => path)),
  target("a space", malformed, ({ userId }) => `/mcp ${userId}`),
  target("a second request line", malformed, ({ userId }) => `/mcp HTTP/1.1\r\nX: ${userId}\r\nGET /mcp`),
  target("the health check, with a message", served(405, ["refused http method-unknown nobody"]), () => "/healthz"),
  row("the health check, with a message and GET", served(200, [], "ok"), () => ({
    ...readPlan,
    method: "GET",
    target: "/healthz",
  })),
  row("readiness, with the victim's host", served(200, [], "ready"), ({ userId }) => ({
    ...withHeaders(readPlan, ["Host", `${userId}.example`]),
    method: "GET",
    target: "/readyz",
  })),
];

const unknownMethod = refused(405, "method-unknown", "nobody");

const method = (name: string, expected: Expected): Attack =>
  row(`the method ${name}`, expected, () => ({ ...readPlan, method: name }));

const methods: Attack[] = [
  ...["PUT", "PATCH", "TRACE", "PROPFIND", "COPY", "MOVE", "LINK", "PURGE", "OPTIONS"].map((name) =>
    method(name, unknownMethod),
  ),
  ...["post", "POSTX", "ALICE", "BREW", "PRI", ""].map((name) => method(name, malformed)),
  row("the method HEAD", unknownMethod, () => ({ ...readPlan, method: "HEAD", body: "" })),
  row("the method CONNECT", malformed, () => ({ ...readPlan, method: "CONNECT", target: "127.0.0.1:80", body: "" })),
  row("GET with a message", refused(400, "session-missing"), () => ({ ...readPlan, method: "GET" })),
  row("POST twice overridden", asAlice, () =>
    withHeaders(readPlan, ["X-HTTP-Method-Override", "GET"], ["X-Method", "PUT"]),
  ),
];

export const targetAttacks: readonly Attack[] = paths;
export const methodAttacks: readonly Attack[] = methods;
