/** Sessions of the 2025 revisions: their owners, their end, and that nothing remains of them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { handshake, legacyRequest, openSession } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage, ServedHttp } from "../stage/http.ts";

let stage: HttpStage;
let alice: string;
let bob: string;
beforeAll(async () => {
  stage = await openHttpStage();
  [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const ping = async (served: ServedHttp, token: string, session: string): Promise<number> =>
  (await served.ask(legacyRequest(token, { id: 1, method: "ping" }, { session }))).status;

test("nothing remains of a session that is deleted, unused or badly opened, and of requests without one", async () => {
  await using served = await stage.serve({ sessionIdleMs: 50 });
  const deleted = await openSession(served, alice);
  expect((await served.ask(legacyRequest(alice, null, { session: deleted, method: "DELETE" }))).status).toBe(200);
  const unused = await openSession(served, alice);
  expect((await served.ask(legacyRequest(alice, handshake, { headers: { accept: "text/html" } }))).status).toBe(406);
  expect((await served.rpc(alice, "tools/list")).status).toBe(200);
  await stage.nobody();
  expect(served.server.open).toEqual({ sessions: 0, streams: 0 });
  for (const session of [deleted, unused]) expect(await ping(served, alice, session)).toBe(404);
});

test("the longest unused session makes room for a new one", async () => {
  await using served = await stage.serve({ sessionsPerUserMax: 2 });
  const [first, second] = [await openSession(served, alice), await openSession(served, alice)];
  const others = await openSession(served, bob);
  expect(await ping(served, alice, first)).toBe(200);
  const third = await openSession(served, alice);
  expect(await ping(served, alice, second)).toBe(404);
  for (const session of [first, third]) expect(await ping(served, alice, session)).toBe(200);
  expect(await ping(served, bob, others)).toBe(200);
});

test("simultaneous handshakes do not exceed the limit of sessions", async () => {
  await using served = await stage.serve({ sessionsPerUserMax: 2 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => served.ask(legacyRequest(alice, handshake))));
  expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
  const sessions = answers.flatMap(({ headers }) => headers["mcp-session-id"] ?? []).flat();
  const alive = await Promise.all(sessions.map((session) => ping(served, alice, session)));
  expect(alive.filter((status) => status === 200)).toHaveLength(2);
});

test("when all sessions are in use, they stay and the new one is refused", async () => {
  await using served = await stage.serve({ sessionsPerUserMax: 1 });
  const session = await openSession(served, alice);
  const reading = new AbortController();
  const headers = { authorization: `Bearer ${alice}`, accept: "text/event-stream", "mcp-session-id": session };
  const stream = await fetch(served.url, { headers, signal: reading.signal });
  expect(stream.status).toBe(200);
  const refused = await served.ask(legacyRequest(alice, handshake));
  expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "10"]);
  const listen = { notifications: { resourcesListChanged: true } };
  expect((await served.rpc(alice, "subscriptions/listen", listen)).status).toBe(429);
  expect(stage.refusals).toMatchObject([{ reason: "sessions-full" }, { reason: "streams-full" }]);
  expect((await fetch(served.url, { headers })).status).toBe(429);
  reading.abort();
  await expect(stream.text()).rejects.toThrow("aborted");
});

const read = (at: number) => ({ name: "ReadUserMemory", arguments: { name: `of-token-${at}` } });

interface LabelledCall {
  readonly labels: Readonly<Record<string, string>>;
  readonly reads: readonly { readonly path: string }[];
}

test("two tokens of one user in one session: each call is recorded with its own, the session and the client", async () => {
  const tokenOf = (jti: string) => stage.issuer.token("alice", { claims: { jti } });
  const tokens = [await tokenOf("token-0"), await tokenOf("token-1")] as const;
  const session = await openSession(stage, tokens[0]);
  const asked = Array.from({ length: 20 }, (_, at) => {
    const message = { id: at, method: "tools/call", params: read(at % 2) };
    return stage.ask(legacyRequest(tokens[at % 2 === 0 ? 0 : 1], message, { session }));
  });
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  expect((await stage.rpc(tokens[1], "tools/call", read(1))).status).toBe(200);
  const calls = stage.records().filter(({ kind }) => kind === "call") as unknown as LabelledCall[];
  expect(calls).toHaveLength(21);
  const labels = { via: "mcp-http", client: "raw/0", session: session.slice(0, 8) };
  for (const call of calls.slice(0, -1)) {
    expect(call.labels).toEqual({ ...labels, token: expect.stringMatching(/^token-[01]$/) as unknown });
    expect(call.reads[0]?.path).toBe(`of-${call.labels["token"]}.md`);
  }
  expect(calls.at(-1)?.labels).toEqual({ via: "mcp-http", client: "test/1", token: "token-1" });
});

test.for<readonly [what: string, clientInfo: object, label: string | undefined]>([
  ["empty names", { name: "", version: "" }, undefined],
  ["control characters", { name: "a\u001b[2J", version: "1\u007f\n\0" }, "a?[2J/1???"],
  ["a long name", { name: "é".repeat(300), version: "1" }, "?".repeat(256)],
])("of %s, the client's label has printable letters only, and the call goes on", async ([, clientInfo, label]) => {
  const hello = { ...handshake, params: { ...handshake.params, clientInfo } };
  const opened = await stage.ask(legacyRequest(alice, hello));
  const session = String(opened.headers["mcp-session-id"]);
  const message = { id: 1, method: "tools/call", params: read(0) };
  expect((await stage.ask(legacyRequest(alice, message, { session }))).status).toBe(200);
  const [call] = stage.records() as unknown as LabelledCall[];
  expect(call?.labels["client"]).toBe(label);
});
