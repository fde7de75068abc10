/** Streams and running calls: what ends them, and what must not. */
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { writeSpinner } from "../bounds/bounded-stage.ts";
import { askServer, bytesOf, legacyRequest, modernRequest, openSession } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage, ServedHttp } from "../stage/http.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const listen = { notifications: { resourcesListChanged: true, resourceSubscriptions: ["memory://index"] } };
const spin = { name: "Spin", arguments: {} };

/** With a tool that never returns. */
const folder = temporaryFolder();
const plugins = [writeSpinner(folder.path, 10_000), shippedPlugin("user-memory")];
let stage: HttpStage;
let token: string;
let spins = 0;
const begun = new EventEmitter();

const clock = (): number => {
  spins++;
  begun.emit("begin");
  return 1_700_000_000_000;
};

const runtime = { plugins, policy: policyFor(plugins), clock, deadlineMs: 10_000 };
beforeAll(async () => {
  stage = await openHttpStage({ runtime });
  token = await stage.issuer.token("alice");
});
beforeEach(() => {
  stage.forget();
  spins = 0;
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const read = { name: "ReadUserMemory", arguments: { name: "editor" } };

/** Lets alice's calls end that nobody has asked for, as those of a new session: the next one that begins is the tool's. */
async function quiet(of: ServedHttp = stage, user = token): Promise<void> {
  expect((await of.rpc(user, "tools/call", read)).status).toBe(200);
  spins = 0;
}

/** Resolves when a thread has started the tool. */
async function spinning(): Promise<void> {
  if (spins === 0) await once(begun, "begin");
  spins = 0;
}

/** The result codes of the tool's calls. */
const codesOf = (tool: string, of = "alice"): unknown[] =>
  stage.records().flatMap((each) => (each["tool"] === tool && each["userId"] === of ? [each["code"]] : []));

const cancelled = {
  status: 200,
  body: { jsonrpc: "2.0", id: "spin", error: { code: -32_800, message: "Request cancelled" } },
};

test("a stream of changes ends when its token expires, in either revision", async () => {
  const session = await openSession(stage, token);
  const short = await stage.issuer.token("alice", { endsInS: 2 });
  const modern = modernRequest(short, "subscriptions/listen", { params: listen });
  const answers = await Promise.all([
    stage.ask(modern),
    stage.ask(legacyRequest(short, null, { session, method: "GET" })),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[0]?.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" });
  expect(answers[0]?.body).toContain("notifications/subscriptions/acknowledged");
  expect((await stage.ask(modern)).status).toBe(401);
  // The session belongs to the user and goes on with another token.
  expect((await stage.ask(legacyRequest(token, { id: 1, method: "ping" }, { session }))).status).toBe(200);
});

test("a client that disconnects cancels its call, in either revision", async () => {
  const session = await openSession(stage, token);
  const asks = [
    modernRequest(token, "tools/call", { params: spin }),
    legacyRequest(token, { id: 7, method: "tools/call", params: spin }, { session }),
  ];
  for (const { body, headers } of asks) {
    await quiet();
    const going = new AbortController();
    const gone = fetch(stage.url, {
      method: "POST",
      body: String(body),
      headers: headers as Record<string, string>,
      signal: going.signal,
    });
    await spinning();
    going.abort();
    await expect(gone).rejects.toThrow("aborted");
  }
  // A call is recorded when its thread has stopped.
  while (codesOf("Spin").length < 2) expect((await stage.rpc(token, "tools/call", read)).status).toBe(200);
  expect(codesOf("Spin")).toEqual(["CANCELLED", "CANCELLED"]);
  // The id can be used again.
  expect((await stage.ask(legacyRequest(token, { id: 7, method: "ping" }, { session }))).status).toBe(200);
});

test("answers a cancelled request of a session; its id is in use until then", async () => {
  const session = await openSession(stage, token);
  await quiet();
  const answered = stage.ask(legacyRequest(token, { id: "spin", method: "tools/call", params: spin }, { session }));
  await spinning();
  expect((await stage.ask(legacyRequest(token, { id: "spin", method: "ping" }, { session }))).status).toBe(400);
  expect(stage.refusals).toMatchObject([{ reason: "id-in-use", userId: "alice" }]);
  const cancel = { method: "notifications/cancelled", params: { requestId: "spin" } };
  expect((await stage.ask(legacyRequest(token, cancel, { session }))).status).toBe(202);
  const { status, body } = await answered;
  expect({ status, body: JSON.parse(body) as unknown }).toEqual(cancelled);
  expect((await stage.ask(legacyRequest(token, { id: "spin", method: "ping" }, { session }))).status).toBe(200);
});

test("when a client ends its session, running requests are answered and nothing is kept", async () => {
  await using served = await stage.serve();
  const session = await openSession(served, token);
  await quiet();
  const answered = served.ask(legacyRequest(token, { id: "spin", method: "tools/call", params: spin }, { session }));
  await spinning();
  expect((await served.ask(legacyRequest(token, null, { session, method: "DELETE" }))).status).toBe(200);
  const { status, body } = await answered;
  expect({ status, body: JSON.parse(body) as unknown }).toEqual(cancelled);
  expect(served.server.open).toEqual({ sessions: 0, streams: 0 });
});

test("a server that closes answers running requests, ends its streams and accepts nothing new", async () => {
  await using own = await openHttpStage({ runtime: { ...runtime, deadlineMs: 1_500 } });
  const alice = await own.issuer.token("alice");
  await openSession(own, alice);
  const stream = own.rpc(alice, "subscriptions/listen", { notifications: { resourcesListChanged: true } });
  const idle = connect(own.port, "127.0.0.1");
  await once(idle, "connect");
  await quiet(own, alice);
  const answered = own.rpc(alice, "tools/call", spin);
  await spinning();
  const closing = own.server.close();
  idle.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  const { status, body } = await answered;
  expect(status).toBe(200);
  expect(body).toContain("DEADLINE_EXCEEDED");
  // The stream ends with a result instead of being cut.
  expect((await stream).body).toContain('"resultType":"complete"');
  await closing;
  await expect(askServer(own.port, { method: "GET", path: "/healthz" })).rejects.toThrow("ECONNREFUSED");
  await own.nobody();
  idle.destroy();
});

test("a server that closes cancels what runs longer than the grace period", async () => {
  const served = await stage.serve({ closeGraceMs: 50 });
  await quiet();
  const answered = served.rpc(token, "tools/call", spin);
  await spinning();
  await served.server.close();
  expect((await answered).status).toBe(503);
  while (codesOf("Spin").length === 0) await quiet();
  expect(codesOf("Spin")).toEqual(["CANCELLED"]);
});

test("cancels requests of a connection that the client has closed", async () => {
  const own = await stage.issuer.token("closing");
  const asks = [
    modernRequest(own, "tools/call", { params: spin }),
    modernRequest(own, "subscriptions/listen", { params: listen }),
  ];
  await using served = await stage.serve();
  const socket = connect(served.port, "127.0.0.1");
  for (const ask of asks) socket.write(bytesOf(ask));
  await spinning();
  socket.destroy();
  await served.server.close();
  await stage.runtime.close();
  expect(codesOf("Spin", "closing")).toEqual(["CANCELLED"]);
});
