/** Requests of the 2025 revisions over HTTP: each stands alone, in the order and on the server that the client likes. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { handshake, legacyRequest } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";

let stage: HttpStage;
let alice: string;
beforeAll(async () => {
  stage = await openHttpStage();
  alice = await stage.issuer.token("alice");
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const read = (at: number) => ({ name: "ReadUserMemory", arguments: { name: `of-token-${at}` } });

interface LabelledCall {
  readonly labels: Readonly<Record<string, string>>;
  readonly reads: readonly { readonly path: string }[];
}

test("a request needs no handshake before it, and gets no session", async () => {
  const opened = await stage.ask(legacyRequest(alice, handshake, { headers: { "mcp-session-id": "stale" } }));
  expect(opened.headers["mcp-session-id"]).toBeUndefined();
  expect(JSON.parse(opened.body)).toMatchObject({
    result: { protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {}, prompts: {} } },
  });
  await using other = await stage.serve();
  for (const served of [stage, other]) {
    const { status, body } = await served.ask(legacyRequest(alice, { id: 1, method: "tools/list" }));
    expect([status, body]).toEqual([200, expect.stringContaining("ReadUserMemory")]);
  }
  await stage.nobody();
});

test("changes are not offered, and asking for them says so", async () => {
  const { body } = await stage.ask(legacyRequest(alice, handshake));
  expect(body).not.toContain("listChanged");
  const subscribe = { id: 1, method: "resources/subscribe", params: { uri: "memory://index" } };
  const refused = await stage.ask(legacyRequest(alice, subscribe));
  expect(JSON.parse(refused.body)).toMatchObject({ id: 1, error: { code: -32_601 } });
  const asks = [
    { method: "GET" },
    { method: "GET", headers: { "mcp-session-id": "1" } },
    { method: "GET", headers: { "last-event-id": "1" } },
    { method: "GET", headers: { "content-length": "2" }, body: "{}" },
    { method: "DELETE" },
  ];
  for (const { headers: more = {}, ...ask } of asks) {
    const { status, headers } = await stage.ask({ ...ask, headers: { authorization: `Bearer ${alice}`, ...more } });
    expect([status, headers.allow]).toEqual([405, "POST"]);
  }
  // The first is what every such client asks: no refusal.
  expect(stage.refusals.map(({ reason }) => reason)).toEqual(Array.from(asks, () => "method-unknown"));
});

test("two tokens of one user at once: each call is recorded with its own", async () => {
  const tokenOf = (jti: string) => stage.issuer.token("alice", { claims: { jti } });
  const tokens = [await tokenOf("token-0"), await tokenOf("token-1")] as const;
  const asked = Array.from({ length: 20 }, (_, at) => {
    const message = { id: 1, method: "tools/call", params: read(at % 2) };
    return stage.ask(legacyRequest(tokens[at % 2 === 0 ? 0 : 1], message));
  });
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  expect((await stage.rpc(tokens[1], "tools/call", read(1))).status).toBe(200);
  const calls = stage.records().filter(({ kind }) => kind === "call") as unknown as LabelledCall[];
  expect(calls).toHaveLength(21);
  for (const call of calls.slice(0, -1)) {
    expect(call.labels).toEqual({ via: "mcp-http", token: expect.stringMatching(/^token-[01]$/) as unknown });
    expect(call.reads[0]?.path).toBe(`of-${call.labels["token"]}.md`);
  }
  expect(calls.at(-1)?.labels).toEqual({ via: "mcp-http", client: "test/1", token: "token-1" });
});

const batch = (messages: readonly object[], version: string | null = "2025-03-26") => {
  const headers = { "mcp-protocol-version": version ?? [] };
  return legacyRequest(alice, {}, { body: JSON.stringify(messages), headers });
};
const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });

test("a batch gets one list of answers, each message counts, and what has no batches refuses one", async () => {
  const note = { jsonrpc: "2.0", method: "notifications/initialized" };
  const call = { ...ping("c"), method: "tools/call", params: read(0) };
  const { status, body } = await stage.ask(batch([ping(1), note, call, { ...ping(2), method: "x" }]));
  expect(status).toBe(200);
  const answers = JSON.parse(body) as readonly { readonly id: unknown }[];
  expect(answers.map(({ id }) => id)).toEqual([1, "c", 2]);
  expect(answers).toMatchObject([{ result: {} }, { result: { isError: true } }, { error: { code: -32_601 } }]);
  expect((await stage.ask(batch([note, note]))).status).toBe(202);
  const unfit = [[], Array.from({ length: 33 }, (_, at) => ping(at)), [ping(1), { ...handshake, jsonrpc: "2.0" }]];
  for (const messages of unfit) expect((await stage.ask(batch(messages))).status).toBe(400);
  await using slow = await stage.serve({ requestsPerMinute: 4 });
  expect((await slow.ask(batch([ping(1), ping(2), ping(3), ping(4)]))).status).toBe(200);
  expect((await slow.ask(batch([ping(1)]))).status).toBe(429);
});

test("a revision without batches refuses one with a sentence, on record, and others answer it", async () => {
  for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
    const { status, body } = await stage.ask(batch([ping(1), ping(2)], version));
    expect([status, body]).toEqual([400, expect.stringContaining("from 2025-06-18 on have no batches; expected one")]);
  }
  expect(stage.refusals.map(({ reason }) => reason)).toEqual(Array.from({ length: 3 }, () => "batch-removed"));
  for (const version of ["2024-11-05", "2025-03-26", null])
    expect((await stage.ask(batch([ping(1), ping(2)], version))).status).toBe(200);
});

test("what is refused of a batch is on record as it is alone", async () => {
  const messages = [ping(1), { ...ping(2), method: "absent" }, ping(3)];
  for (const version of ["2024-01-01", "2025-03-26"]) {
    stage.forget();
    for (const message of messages) {
      const headers = { "mcp-protocol-version": version };
      await stage.ask(legacyRequest(alice, {}, { body: JSON.stringify(message), headers }));
    }
    const alone = [...stage.refusals];
    stage.forget();
    expect(alone.length).toBeGreaterThan(0);
    await stage.ask(batch(messages, version));
    expect(stage.refusals).toEqual(alone);
  }
});

test.for<readonly [what: string, clientInfo: object, label: string | undefined]>([
  ["empty names", { name: "", version: "" }, undefined],
  ["control characters", { name: "a\u001b[2J", version: "1\u007f\n\0" }, "a?[2J/1???"],
  ["a long name", { name: "é".repeat(300), version: "1" }, "?".repeat(256)],
])("of %s, the client's label has printable letters only, and the call goes on", async ([, clientInfo, label]) => {
  const _meta = { "io.modelcontextprotocol/clientInfo": clientInfo };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    ..._meta,
  };
  expect((await stage.rpc(alice, "tools/call", { ...read(0), _meta: meta })).status).toBe(200);
  const [call] = stage.records() as unknown as LabelledCall[];
  expect(call?.labels["client"]).toBe(label);
});
