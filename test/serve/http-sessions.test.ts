/** Sessions of the 2025 revisions: their owners, their end, and that nothing remains of them. */
import { expect, test } from "vitest";

import { SessionRoom } from "../../host/serve/http/sessions.ts";
import { handshake, legacyRequest, openSession } from "./http-requests.ts";
import type { Answer } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";
import type { HttpStage } from "./http-stage.ts";

const ping = (stage: HttpStage, token: string, session: string): Promise<Answer> =>
  stage.ask(legacyRequest(token, { id: 1, method: "ping" }, { session }));

/** All by which a client can distinguish answers. */
function toldBy({ status, headers, body }: Answer): object {
  const { date: _, ...others } = headers;
  return { status, headers: others, body };
}

test("answers for another user's session exactly as for a nonexistent one", async () => {
  await using stage = await openHttpStage();
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
  const session = await openSession(stage, alice);
  const never = "0b8a3d7e-1f52-4b0c-9a55-3c1e6f6a1c11";
  const asks = [
    (id: string) => legacyRequest(bob, { id: 1, method: "tools/list" }, { session: id }),
    (id: string) => legacyRequest(bob, { method: "notifications/initialized" }, { session: id }),
    (id: string) => legacyRequest(bob, null, { session: id, method: "GET" }),
    (id: string) => legacyRequest(bob, null, { session: id, method: "DELETE" }),
    (id: string) => legacyRequest(bob, handshake, { session: id }),
  ];
  for (const ask of asks) {
    const answer = await stage.ask(ask(session));
    expect(answer.status).toBe(404);
    expect(toldBy(answer)).toEqual(toldBy(await stage.ask(ask(never))));
  }
  const refusal = { surface: "http", reason: "session-unknown", userId: "bob", peer: "127.0.0.1" };
  expect(stage.refusals).toEqual(Array.from({ length: 10 }, () => refusal));
  expect((await ping(stage, alice, session)).status).toBe(200);
});

test("DELETE ends a session and leaves nothing of it", async () => {
  await using stage = await openHttpStage();
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  expect((await stage.ask(legacyRequest(token, null, { session, method: "DELETE" }))).status).toBe(200);
  await stage.nobody();
  expect((await ping(stage, token, session)).status).toBe(404);
});

test("an unused session ends", async () => {
  await using stage = await openHttpStage({ sessionIdleMs: 50 });
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  await stage.nobody();
  expect((await ping(stage, token, session)).status).toBe(404);
});

test("a handshake that fails leaves no session", async () => {
  await using stage = await openHttpStage();
  const token = await stage.issuer.token("alice");
  const answer = await stage.ask(legacyRequest(token, handshake, { headers: { accept: "text/html" } }));
  expect(answer.status).toBe(406);
  expect(stage.refusals).toEqual([{ surface: "http", reason: "mcp-406", userId: "alice", peer: "127.0.0.1" }]);
  await stage.nobody();
});

test("refuses a handshake that is too large to keep", async () => {
  await using stage = await openHttpStage();
  const token = await stage.issuer.token("alice");
  const params = { ...handshake.params, clientInfo: { name: "x".repeat(16_384), version: "0" } };
  expect((await stage.ask(legacyRequest(token, { ...handshake, params }))).status).toBe(413);
  await stage.nobody();
});

test("when there is no room for more sessions, the longest unused one of all users ends", async () => {
  const ended: string[] = [];
  const room = new SessionRoom(2);
  const end = async (id: string): Promise<void> => {
    ended.push(id);
    room.leave(id);
  };
  for (const id of ["first", "second"]) await room.enter(id);
  await expect(room.enter("third")).rejects.toThrow("sessions-full");
  for (const id of ["first", "second"]) room.unuse(id, () => end(id));
  room.use("first");
  room.unuse("first", () => end("first"));
  await room.enter("third");
  expect(ended).toEqual(["second"]);
  await room.enter("fourth");
  expect(ended).toEqual(["second", "first"]);
});

test("sessions opened at the same time do not exceed the limit", async () => {
  const room = new SessionRoom(1);
  await room.enter("first");
  room.unuse("first", async () => room.leave("first"));
  const entered = await Promise.allSettled([room.enter("second"), room.enter("third")]);
  expect(entered.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a request without a session leaves nothing behind", async () => {
  await using stage = await openHttpStage();
  expect((await stage.rpc(await stage.issuer.token("alice"), "tools/list")).status).toBe(200);
  await stage.nobody();
});

test("the longest unused session makes room for a new one", async () => {
  await using stage = await openHttpStage({ sessionsPerUserMax: 2 });
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
  const [first, second, others] = [
    await openSession(stage, alice),
    await openSession(stage, alice),
    await openSession(stage, bob),
  ];
  expect((await ping(stage, alice, first)).status).toBe(200);
  const third = await openSession(stage, alice);
  expect((await ping(stage, alice, second)).status).toBe(404);
  expect((await ping(stage, alice, first)).status).toBe(200);
  expect((await ping(stage, alice, third)).status).toBe(200);
  expect((await ping(stage, bob, others)).status).toBe(200);
});

test("simultaneous handshakes do not exceed the limit of sessions", async () => {
  await using stage = await openHttpStage({ sessionsPerUserMax: 2 });
  const token = await stage.issuer.token("alice");
  const answers = await Promise.all(Array.from({ length: 20 }, () => stage.ask(legacyRequest(token, handshake))));
  expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
  const sessions = answers.flatMap(({ headers }) => headers["mcp-session-id"] ?? []).flat();
  const alive = await Promise.all(sessions.map((session) => ping(stage, token, session)));
  expect(alive.filter(({ status }) => status === 200)).toHaveLength(2);
});

test("when all sessions are in use, they stay and the new one is refused", async () => {
  await using stage = await openHttpStage({ sessionsPerUserMax: 1 });
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  const reading = new AbortController();
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", "mcp-session-id": session };
  const stream = await fetch(stage.url, { headers, signal: reading.signal });
  expect(stream.status).toBe(200);
  const refused = await stage.ask(legacyRequest(token, handshake));
  expect(refused.status).toBe(429);
  expect(refused.headers["retry-after"]).toBe("10");
  const listen = { notifications: { resourcesListChanged: true } };
  expect((await stage.rpc(token, "subscriptions/listen", listen)).status).toBe(429);
  expect(stage.refusals).toMatchObject([{ reason: "sessions-full" }, { reason: "streams-full" }]);
  const second = await fetch(stage.url, { headers });
  expect(second.status).toBe(429);
  reading.abort();
  await expect(stream.text()).rejects.toThrow("aborted");
});

test("records a session's labels and its token's name with each call", async () => {
  await using stage = await openHttpStage();
  const [first, second] = [
    await stage.issuer.token("alice", { claims: { jti: "token-1" } }),
    await stage.issuer.token("alice", { claims: { jti: "token-2" } }),
  ];
  const session = await openSession(stage, first);
  const read = { id: 1, method: "tools/call", params: { name: "ReadUserMemory", arguments: { name: "editor" } } };
  for (const token of [first, second])
    expect((await stage.ask(legacyRequest(token, read, { session }))).status).toBe(200);
  const modern = await stage.rpc(second, "tools/call", { name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(modern.status).toBe(200);
  const labels = { via: "mcp-http", client: "raw/0", session: session.slice(0, 8) };
  expect(
    stage
      .records()
      .filter(({ kind }) => kind === "call")
      .map((record) => record["labels"]),
  ).toEqual([
    { ...labels, token: "token-1" },
    { ...labels, token: "token-2" },
    { via: "mcp-http", client: "test/1", token: "token-2" },
  ]);
});

test("two tokens of one user in one session: each is recorded with its own calls", async () => {
  await using stage = await openHttpStage();
  const tokenOf = (jti: string) => stage.issuer.token("alice", { claims: { jti } });
  const tokens = [await tokenOf("token-0"), await tokenOf("token-1")] as const;
  const session = await openSession(stage, tokens[0]);
  const asked = Array.from({ length: 20 }, (_, at) => {
    const params = { name: "ReadUserMemory", arguments: { name: `of-token-${at % 2}` } };
    return stage.ask(
      legacyRequest(tokens[at % 2 === 0 ? 0 : 1], { id: at, method: "tools/call", params }, { session }),
    );
  });
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  const calls = stage.records().filter(({ kind }) => kind === "call") as unknown as {
    readonly labels: { readonly token: string };
    readonly reads: readonly { readonly path: string }[];
  }[];
  expect(calls).toHaveLength(20);
  for (const { labels, reads } of calls) expect(reads[0]?.path).toBe(`of-${labels.token}.md`);
});
