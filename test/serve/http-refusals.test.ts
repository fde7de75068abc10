/** Each check refuses with a status, a body that reveals nothing, and a record. */
import { expect, test } from "vitest";

import { refusals } from "../../host/serve/http/refusals.ts";
import type { RefusalReason } from "../../host/serve/http/refusals.ts";
import { modernRequest } from "./http-requests.ts";
import type { Asked } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";
import type { HttpStage } from "./http-stage.ts";

const tools = (token: string, headers: Asked["headers"] = {}, asked: Asked = {}): Asked =>
  modernRequest(token, "tools/list", { asked: { ...asked, headers } });

interface Row {
  readonly name: string;
  readonly reason: RefusalReason;
  readonly ask: (token: string, stage: HttpStage) => Asked;
  /** Headers that the answer must have. */
  readonly answered?: Record<string, string>;
  /** The user, if known by then. */
  readonly userId?: string;
}

const rows: Row[] = [
  { name: "another path", reason: "path-unknown", ask: (token) => tools(token, {}, { path: "/" }) },
  { name: "a path with an extra slash", reason: "path-unknown", ask: (token) => tools(token, {}, { path: "/mcp/" }) },
  { name: "an encoded path", reason: "path-unknown", ask: (token) => tools(token, {}, { path: "/%6dcp" }) },
  {
    name: "a path through another one",
    reason: "path-unknown",
    ask: (token) => tools(token, {}, { path: "/x/../mcp" }),
  },
  {
    name: "a path in absolute form",
    reason: "path-unknown",
    ask: (token, { port }) => tools(token, {}, { path: `http://127.0.0.1:${port}/mcp` }),
  },
  {
    name: "a token in a query",
    reason: "query-present",
    ask: (token) => tools("", {}, { path: `/mcp?access_token=${token}` }),
  },
  { name: "an empty query", reason: "query-present", ask: (token) => tools(token, {}, { path: "/mcp?" }) },
  {
    name: "no metadata without a public URL",
    reason: "path-unknown",
    ask: () => ({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" }),
  },
  {
    name: "PUT",
    reason: "method-unknown",
    ask: (token) => tools(token, {}, { method: "PUT" }),
    answered: { allow: "POST, GET, DELETE, OPTIONS" },
  },
  {
    name: "POST to a health check",
    reason: "method-unknown",
    ask: () => ({ path: "/healthz", body: "" }),
    answered: { allow: "GET, HEAD" },
  },
  { name: "OPTIONS without an origin", reason: "method-unknown", ask: () => ({ method: "OPTIONS" }) },
  { name: "another host", reason: "host-unknown", ask: (token) => tools(token, { host: "memory.example" }) },
  { name: "a host with a user", reason: "host-unknown", ask: (token) => tools(token, { host: "localhost@127.0.0.1" }) },
  {
    name: "a host with an allowed prefix",
    reason: "host-unknown",
    ask: (token) => tools(token, { host: "localhost.example" }),
  },
  { name: "two hosts", reason: "header-repeated", ask: (token) => tools(token, { host: ["localhost", "localhost"] }) },
  {
    name: "two tokens",
    reason: "header-repeated",
    ask: (token) => tools(token, { authorization: [`Bearer ${token}`, "Bearer x.y.z"] }),
  },
  { name: "two sessions", reason: "header-repeated", ask: (token) => tools(token, { "mcp-session-id": ["a", "b"] }) },
  {
    name: "two types",
    reason: "header-repeated",
    ask: (token) => tools(token, { "content-type": ["application/json", "text/plain"] }),
  },
  {
    name: "two revisions",
    reason: "header-repeated",
    ask: (token) => tools(token, { "mcp-protocol-version": ["2026-07-28", "2025-06-18"] }),
  },
  {
    name: "two origins",
    reason: "header-repeated",
    ask: (token) => tools(token, { origin: ["https://app.example", "https://app.example"] }),
  },
  {
    name: "another origin",
    reason: "origin-unknown",
    ask: (token) => tools(token, { origin: "https://evil.example" }),
  },
  {
    name: "an origin with another port",
    reason: "origin-unknown",
    ask: (token) => tools(token, { origin: "https://app.example:8443" }),
  },
  {
    name: "an origin with another scheme",
    reason: "origin-unknown",
    ask: (token) => tools(token, { origin: "http://app.example" }),
  },
  {
    name: "an origin with an allowed prefix",
    reason: "origin-unknown",
    ask: (token) => tools(token, { origin: "https://app.example.evil" }),
  },
  { name: "a null origin", reason: "origin-unknown", ask: (token) => tools(token, { origin: "null" }) },
  {
    name: "a preflight of another origin",
    reason: "origin-unknown",
    ask: () => ({
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    }),
  },
  {
    name: "text",
    reason: "body-type",
    ask: (token) => tools(token, { "content-type": "text/plain" }),
    userId: "alice",
  },
  {
    name: "JSON by another name",
    reason: "body-type",
    ask: (token) => tools(token, { "content-type": "application/json, text/plain" }),
    userId: "alice",
  },
  {
    name: "another character set",
    reason: "body-type",
    ask: (token) => tools(token, { "content-type": "application/json; charset=utf-16" }),
    userId: "alice",
  },
  {
    name: "a compressed body",
    reason: "body-type",
    ask: (token) => tools(token, { "content-encoding": "gzip" }),
    userId: "alice",
  },
  {
    name: "a body declared as too large",
    reason: "body-too-large",
    ask: (token) => tools(token, {}, { body: Buffer.alloc(1_048_577, " ") }),
    userId: "alice",
  },
  {
    name: "a body that becomes too large",
    reason: "body-too-large",
    ask: (token) => tools(token, { "transfer-encoding": "chunked" }, { body: Buffer.alloc(1_048_577, " ") }),
    userId: "alice",
  },
  {
    name: "a body that is not JSON",
    reason: "body-unfit",
    ask: (token) => tools(token, {}, { body: "{" }),
    userId: "alice",
  },
  { name: "no body", reason: "body-unfit", ask: (token) => tools(token, {}, { body: "" }), userId: "alice" },
  {
    name: "a key twice",
    reason: "body-unfit",
    ask: (token) => tools(token, {}, { body: '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}' }),
    userId: "alice",
  },
  {
    name: "a prototype",
    reason: "body-unfit",
    ask: (token) => tools(token, {}, { body: '{"jsonrpc":"2.0","id":1,"__proto__":{}}' }),
    userId: "alice",
  },
  {
    name: "a body that is not UTF-8",
    reason: "body-unfit",
    ask: (token) => tools(token, {}, { body: Buffer.from('{"id":"\xff"}', "latin1") }),
    userId: "alice",
  },
  {
    name: "a byte order mark",
    reason: "body-unfit",
    ask: (token) => tools(token, {}, { body: '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
    userId: "alice",
  },
  {
    name: "too deep",
    reason: "body-unfit",
    ask: (token) => tools(token, {}, { body: `${"[".repeat(65)}${"]".repeat(65)}` }),
    userId: "alice",
  },
  { name: "a batch", reason: "body-no-message", ask: (token) => tools(token, {}, { body: "[]" }), userId: "alice" },
  { name: "a text", reason: "body-no-message", ask: (token) => tools(token, {}, { body: '"ping"' }), userId: "alice" },
  {
    name: "null in JSON",
    reason: "body-no-message",
    ask: (token) => tools(token, {}, { body: "null" }),
    userId: "alice",
  },
  {
    name: "a long id",
    reason: "body-no-message",
    ask: (token) => tools(token, {}, { body: JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(129), method: "ping" }) }),
    userId: "alice",
  },
  {
    name: "an id that is an object",
    reason: "body-no-message",
    ask: (token) => tools(token, {}, { body: '{"jsonrpc":"2.0","id":{},"method":"ping"}' }),
    userId: "alice",
  },
  {
    name: "no session",
    reason: "session-missing",
    ask: (token) => ({ method: "GET", headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" } }),
    userId: "alice",
  },
  {
    name: "a session that never existed",
    reason: "session-unknown",
    ask: (token) => ({
      method: "GET",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "text/event-stream",
        "mcp-session-id": "0b8a3d7e-1f52-4b0c-9a55-3c1e6f6a1c11",
      },
    }),
    userId: "alice",
  },
];

test.for(rows)("refuses $name as $reason", async ({ reason, ask, answered = {}, userId }) => {
  await using stage = await openHttpStage({ allowedOrigins: ["https://app.example"] });
  const asked = ask(await stage.issuer.token("alice"), stage);
  const { status, headers, body } = await stage.ask(asked);
  const { status: expected, code, message } = refusals[reason];
  expect({ status, body: JSON.parse(body) as unknown }).toEqual({
    status: expected,
    body: { jsonrpc: "2.0", id: null, error: { code, message } },
  });
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff", ...answered });
  expect(headers).not.toHaveProperty("server");
  expect(headers).not.toHaveProperty("x-powered-by");
  expect(stage.refusals).toEqual([{ surface: "http", reason, userId, peer: "127.0.0.1" }]);
  // The refused request called nothing, and the server goes on.
  expect((await stage.rpc(await stage.issuer.token("alice"), "tools/list")).status).toBe(200);
});
