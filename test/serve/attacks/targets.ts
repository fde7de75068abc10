/** Other ways to write the path, other paths, and other methods. */
import { readPlan } from "./asking.ts";
import { asAlice, refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";

const target = (title: string, expected: Expected, path: string): Attack =>
  row(title, expected, { ...readPlan, target: path });

const unknown = refused("path-unknown");
const query = refused("query-present");
const malformed = refused("http-malformed");

const unknownPaths = [
  ["/mcp//", "//mcp", "/./mcp", "/x/../mcp", "/mcp;user=alice", "/mcp%00", "/%6dcp", "/MCP", "/mcp\\", "/mcp#x", "*"],
  ["http://127.0.0.1/mcp", "http://evil.example/mcp", "http://$user@127.0.0.1/mcp", "/metrics", "/.env", "/users"],
  ["/.well-known/oauth-protected-resource", "/healthz/", "/healthz/../mcp", "/mcp/$user", "/mcp/$session"],
  ["/mcp/../../../../data/users/$user/memory/MEMORY.md", `/mcp/${"a".repeat(8_000)}`],
].flat();

const queries = ["/mcp?user=$user", "/mcp?sessionId=$session", "/mcp?", "/healthz?user=$user"];
const noTargets = ["mcp", "%2fmcp", "\\mcp", "/mcp $user", "/mcp HTTP/1.1\r\nX: $user\r\nGET /mcp"];

const unknownMethod = refused("method-unknown");
const unknownMethods = ["PUT", "PATCH", "TRACE", "PROPFIND", "OPTIONS"];

export const targetAttacks: readonly Attack[] = [
  ...unknownPaths.map((path) => target(`the path ${path.slice(0, 60)}`, unknown, path)),
  ...queries.map((path) => target(`the query of ${path}`, query, path)),
  ...noTargets.map((path) => target(`the target ${JSON.stringify(path)}`, malformed, path)),
  target("the path with a slash at its end", asAlice, "/mcp/"),
  target("the health check, with a message", served(405, unknownMethod.records), "/healthz"),
  ...unknownMethods.map((method) => row(`the method ${method}`, unknownMethod, { ...readPlan, method })),
  ...["post", "ALICE", ""].map((method) => row(`the method ${method}`, malformed, { ...readPlan, method })),
  row("the method HEAD", unknownMethod, { ...readPlan, method: "HEAD", body: "" }),
  row("the method CONNECT", malformed, { ...readPlan, method: "CONNECT", target: "127.0.0.1:80", body: "" }),
  row("GET with a message", refused("method-unknown", "alice"), { ...readPlan, method: "GET" }),
];
