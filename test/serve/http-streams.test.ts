/** Streams and running calls: what ends them, and what must not. */
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { writeSpinner } from "../bounds/bounded-stage.ts";
import { askServer, bytesOf, legacyRequest, modernRequest } from "../stage/http-requests.ts";
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

/** Lets alice's calls end that nobody has asked for: the next one that begins is the tool's. */
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

test("a stream of changes ends when its token expires", async () => {
  const short = await stage.issuer.token("alice", { endsInS: 2 });
  const modern = modernRequest(short, "subscriptions/listen", { params: listen });
  const { status, headers, body } = await stage.ask(modern);
  expect(status).toBe(200);
  expect(headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" });
  expect(body).toContain("notifications/subscriptions/acknowledged");
  expect((await stage.ask(modern)).status).toBe(401);
});

test("a user with as many streams as allowed gets no other one, until one ends", async () => {
  await using served = await stage.serve({ streamsPerUserMax: 1 });
  const { body, headers } = modernRequest(token, "subscriptions/listen", { params: listen });
  const reading = new AbortController();
  const asked = { method: "POST", body: String(body), headers: headers as Record<string, string> };
  const stream = await fetch(served.url, { ...asked, signal: reading.signal });
  expect(stream.status).toBe(200);
  const refused = await served.rpc(token, "subscriptions/listen", listen);
  expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "10"]);
  expect(stage.refusals).toMatchObject([{ reason: "streams-full" }]);
  reading.abort();
  await expect(stream.text()).rejects.toThrow("aborted");
});

test("a client that disconnects cancels its call, in either revision", async () => {
  const asks = [
    modernRequest(token, "tools/call", { params: spin }),
    legacyRequest(token, { id: 7, method: "tools/call", params: spin }),
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
});

const spinAs = (of: string, id: unknown) => legacyRequest(of, { id, method: "tools/call", params: spin });
const cancel = { method: "notifications/cancelled", params: { requestId: "spin" } };

test("a request of 2025 that its client cancels is answered, and nothing is kept", async () => {
  await using served = await stage.serve();
  await quiet();
  const answered = served.ask(spinAs(token, "spin"));
  await spinning();
  expect((await served.ask(legacyRequest(token, cancel))).status).toBe(202);
  const { status, body } = await answered;
  expect({ status, body: JSON.parse(body) as unknown }).toEqual(cancelled);
  while (codesOf("Spin").length === 0) await quiet();
  expect(codesOf("Spin")).toEqual(["CANCELLED"]);
  await stage.nobody();
});

test("a cancellation reaches a request of its own batch", async () => {
  await using served = await stage.serve();
  const call = { jsonrpc: "2.0", id: "spin", method: "tools/call", params: read };
  const body = JSON.stringify([call, { jsonrpc: "2.0", ...cancel }]);
  const { status, body: text } = await served.ask(
    legacyRequest(token, {}, { body, headers: { "mcp-protocol-version": "2025-03-26" } }),
  );
  expect({ status, body: JSON.parse(text) as unknown }).toEqual({ ...cancelled, body: [cancelled.body] });
  await quiet();
  await stage.nobody();
});

test.for<readonly [whose: string, running: readonly [user: string, jti: string], ids: readonly unknown[]]>([
  ["another user", ["bob", "a"], ["spin"]],
  ["another token of the user", ["carol", "b"], ["spin"]],
  ["another id", ["carol", "a"], [7]],
  ["two clients with the same token and id", ["carol", "a"], ["spin", "spin"]],
])("a cancellation reaches no request of %s", async ([, [user, jti], ids]) => {
  const tokenOf = (of: string, id: string) => stage.issuer.token(of, { claims: { jti: id } });
  const [running, own] = [await tokenOf(user, jti), await tokenOf("carol", "a")];
  await using served = await stage.serve({ closeGraceMs: 0 });
  const calls = ids.map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: spin }));
  // As a batch, all are there when the first one runs.
  const headers = { "mcp-protocol-version": "2025-03-26" };
  const answered = served.ask(legacyRequest(running, {}, { body: JSON.stringify(calls), headers }));
  await spinning();
  expect((await served.ask(legacyRequest(own, cancel))).status).toBe(202);
  expect(codesOf("Spin", user)).toEqual([]);
  await served.server.close();
  expect(JSON.parse((await answered).body)).toEqual(ids.map((id) => ({ ...cancelled.body, id })));
  // They are over before the next test of the same user.
  while (codesOf("Spin", user).length < ids.length) await quiet();
});

test("a server that closes answers running requests, ends its streams and accepts nothing new", async () => {
  await using own = await openHttpStage({ runtime: { ...runtime, deadlineMs: 1_500 } });
  const alice = await own.issuer.token("alice");
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
