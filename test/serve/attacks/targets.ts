/** Other ways to write the path, other paths, and other methods. */
import { readPlan, withHeaders } from "./asking.ts";
import { refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";

const target = (title: string, expected: Expected, path: string): Attack =>
  row(title, expected, { ...readPlan, target: path });

const unknown = refused("path-unknown");
const query = refused("query-present");
const malformed = refused("http-malformed");

const unknownPaths = [
  ["/mcp/", "//mcp", "/./mcp", "/mcp/.", "/mcp/../mcp", "/x/../mcp", "/mcp;user=alice", "/mcp%00", "/mcp%20"],
  ["/mcp.", "/%6dcp", "/%2fmcp", "/MCP", "/mcp\\", "/mcp#x", "*", "/", "/mcp,/mcp", "http://127.0.0.1/mcp"],
  ["http://evil.example/mcp", "https://127.0.0.1/mcp", "//127.0.0.1/mcp", "file:///mcp", "/favicon.ico", "/sse"],
  ["/messages", "/admin", "/metrics", "/debug/pprof", "/.env", "/.git/config", "/users", "/tools", "/audit.jsonl"],
  ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/healthz/", "/readyz/x"],
  ["/.well-known/openid-configuration", "/healthz/../mcp", "/mcp/$user", "/$user/mcp", "/mcp;user=$user"],
  ["http://$user@127.0.0.1/mcp", "/data/users/$user/memory/MEMORY.md", "/mcp/$session"],
  "/mcp/../../../../data/users/$user/memory/MEMORY.md",
  `/mcp/${"a".repeat(8_000)}`,
].flat();

const queries = ["/mcp?user=$user", "/mcp?sessionId=$session", "/mcp?", "/healthz?user=$user"];
const noTargets = ["mcp", "%2fmcp", "\\mcp", "/mcp $user", "/mcp HTTP/1.1\r\nX: $user\r\nGET /mcp"];

const unknownMethod = refused("method-unknown");
const unknownMethods = ["PUT", "PATCH", "TRACE", "PROPFIND", "COPY", "MOVE", "LINK", "PURGE", "OPTIONS"];

export const targetAttacks: readonly Attack[] = [
  ...unknownPaths.map((path) => target(`the path ${path.slice(0, 60)}`, unknown, path)),
  ...queries.map((path) => target(`the query of ${path}`, query, path)),
  ...noTargets.map((path) => target(`the target ${JSON.stringify(path)}`, malformed, path)),
  target("the health check, with a message", served(405, unknownMethod.records), "/healthz"),
  row("the health check, with a message and GET", served(200, [], "ok"), {
    ...readPlan,
    method: "GET",
    target: "/healthz",
  }),
  row("readiness, with the victim's host", served(200, [], "ready"), {
    ...withHeaders(readPlan, ["Host", "$user.example"]),
    method: "GET",
    target: "/readyz",
  }),
  ...unknownMethods.map((method) => row(`the method ${method}`, unknownMethod, { ...readPlan, method })),
  ...["post", "POSTX", "ALICE", "BREW", "PRI", ""].map((method) =>
    row(`the method ${method}`, malformed, { ...readPlan, method }),
  ),
  row("the method HEAD", unknownMethod, { ...readPlan, method: "HEAD", body: "" }),
  row("the method CONNECT", malformed, { ...readPlan, method: "CONNECT", target: "127.0.0.1:80", body: "" }),
  row("GET with a message", refused("session-missing", "alice"), { ...readPlan, method: "GET" }),
];
