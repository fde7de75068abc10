/** Streams and running calls: what ends them, and what must not. */
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";

import { expect, test } from "vitest";

import { writeSpinner } from "../bounds/bounded-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { legacyRequest, modernRequest, openSession } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";
import type { HttpStage, HttpStageOptions } from "./http-stage.ts";

const listen = { notifications: { resourcesListChanged: true, resourceSubscriptions: ["memory://index"] } };
const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix" };

/** A stage with a tool that never returns. `spinning` resolves when a thread has started it. */
async function openSpinningStage(options: HttpStageOptions = {}): Promise<HttpStage & { spinning(): Promise<void> }> {
  using folder = temporaryFolder();
  const plugins = [writeSpinner(folder.path, 10_000), shippedPlugin("user-memory")];
  const begun = new EventEmitter();
  let spins = 0;
  const clock = (): number => {
    spins++;
    begun.emit("begin");
    return 1_700_000_000_000;
  };
  const policy = policyFor(plugins);
  const stage = await openHttpStage({ ...options, runtime: { plugins, policy, clock, deadlineMs: 10_000 } });
  const spinning = async (): Promise<void> => {
    if (spins === 0) await once(begun, "begin");
    spins = 0;
  };
  return Object.assign(stage, { spinning });
}

/** The result codes of the tool's calls. */
const codesOf = (stage: HttpStage, tool: string): unknown[] =>
  stage.records().flatMap((record) => (record["kind"] === "call" && record["tool"] === tool ? [record["code"]] : []));

test("a stream of changes ends when its token expires, in either revision", async () => {
  await using stage = await openHttpStage();
  const lasting = await stage.issuer.token("alice");
  const session = await openSession(stage, lasting);
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
  expect((await stage.ask(legacyRequest(lasting, { id: 1, method: "ping" }, { session }))).status).toBe(200);
});

test("reports a user's changes on the user's streams only", async () => {
  await using stage = await openHttpStage();
  const told: string[] = [];
  const events = new EventEmitter();
  for (const user of ["alice", "bob"]) {
    const client = await stage.client(await stage.issuer.token(user));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      told.push(`${user}: ${params.uri}`);
      events.emit("told");
    });
    await client.listen({ resourceSubscriptions: ["memory://index"] });
  }
  for (const userId of ["bob", "alice"]) {
    const awaited = once(events, "told");
    expect((await stage.runtime.call("UpdateUserMemory", entry, { userId })).ok).toBe(true);
    await awaited;
  }
  expect(told).toEqual(["bob: memory://index", "alice: memory://index"]);
});

test("a stream reports entries whose files do not reveal their names, also ones never listed", async () => {
  await using stage = await openHttpStage();
  const client = await stage.client(await stage.issuer.token("alice"));
  const events = new EventEmitter();
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void events.emit("told", params.uri),
  );
  const uri = "memory://journal/entry/watched";
  for (const [content, name] of [
    ["one", "memory_write"],
    ["two", "memory_update"],
  ] as const) {
    // The previous stream is gone, and the server has kept nothing for this user since.
    const stream = await client.listen({ resourceSubscriptions: [uri] });
    const told = once(events, "told");
    expect((await stage.runtime.call(name, { key: "watched", content }, { userId: "alice" })).ok).toBe(true);
    expect(await told).toEqual([uri]);
    await stream.close();
    await stage.nobody();
  }
});

test("a client that disconnects cancels its call, in either revision", async () => {
  await using stage = await openSpinningStage();
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  const params = { name: "Spin", arguments: {} };
  const asks = [
    modernRequest(token, "tools/call", { params }),
    legacyRequest(token, { id: 7, method: "tools/call", params }, { session }),
  ];
  for (const { body, headers } of asks) {
    const going = new AbortController();
    const gone = fetch(stage.url, {
      method: "POST",
      body: String(body),
      headers: headers as Record<string, string>,
      signal: going.signal,
    });
    await stage.spinning();
    going.abort();
    await expect(gone).rejects.toThrow("aborted");
  }
  const read = await stage.rpc(token, "tools/call", { name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(read.status).toBe(200);
  expect(codesOf(stage, "Spin")).toEqual(["CANCELLED", "CANCELLED"]);
  // The id can be used again.
  expect((await stage.ask(legacyRequest(token, { id: 7, method: "ping" }, { session }))).status).toBe(200);
});

test("answers a cancelled request of a session; its id is in use until then", async () => {
  await using stage = await openSpinningStage();
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  const call = { id: "spin", method: "tools/call", params: { name: "Spin", arguments: {} } };
  const answered = stage.ask(legacyRequest(token, call, { session }));
  await stage.spinning();
  expect((await stage.ask(legacyRequest(token, { id: "spin", method: "ping" }, { session }))).status).toBe(400);
  expect(stage.refusals).toMatchObject([{ reason: "id-in-use", userId: "alice" }]);
  const cancel = { method: "notifications/cancelled", params: { requestId: "spin" } };
  expect((await stage.ask(legacyRequest(token, cancel, { session }))).status).toBe(202);
  const { status, body } = await answered;
  expect({ status, body: JSON.parse(body) as unknown }).toEqual({
    status: 200,
    body: { jsonrpc: "2.0", id: "spin", error: { code: -32_800, message: "Request cancelled" } },
  });
  expect((await stage.ask(legacyRequest(token, { id: "spin", method: "ping" }, { session }))).status).toBe(200);
});

test("when a client ends its session, running requests are answered and nothing is kept", async () => {
  await using stage = await openSpinningStage();
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  const call = { id: "spin", method: "tools/call", params: { name: "Spin", arguments: {} } };
  const answered = stage.ask(legacyRequest(token, call, { session }));
  await stage.spinning();
  expect((await stage.ask(legacyRequest(token, null, { session, method: "DELETE" }))).status).toBe(200);
  const { status, body } = await answered;
  expect({ status, body: JSON.parse(body) as unknown }).toEqual({
    status: 200,
    body: { jsonrpc: "2.0", id: "spin", error: { code: -32_800, message: "Request cancelled" } },
  });
  await stage.nobody();
});

test("limits each user's requests per minute separately", async () => {
  await using stage = await openHttpStage({ requestsPerMinute: 3 });
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
  const statuses = [];
  for (let count = 0; count < 4; count++) statuses.push((await stage.rpc(alice, "tools/list")).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  const answer = await stage.rpc(alice, "tools/list");
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  expect(stage.refusals).toMatchObject(Array.from({ length: 2 }, () => ({ reason: "user-limited", userId: "alice" })));
  expect((await stage.rpc(bob, "tools/list")).status).toBe(200);
});

test("refuses a body that is cut short, and nothing waits for the rest", async () => {
  await using stage = await openHttpStage();
  const { headers } = modernRequest(await stage.issuer.token("alice"), "tools/list");
  const lines = { host: "127.0.0.1", ...headers, "content-length": "100" };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
  const socket = connect(stage.port, "127.0.0.1");
  // The socket ends with the data, so the client is gone before the token is verified.
  socket.end(`POST /mcp HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n{"jsonrpc"`);
  socket.resume();
  await once(socket, "close");
  await stage.server.close();
  expect(stage.refusals.map(({ reason }) => reason).toSorted()).toEqual(["body-cut", "http-malformed"]);
});

test("cancels requests of a connection that the client has closed", async () => {
  await using stage = await openSpinningStage();
  const token = await stage.issuer.token("alice");
  const one = modernRequest(token, "tools/call", { params: { name: "Spin", arguments: {} } });
  const two = modernRequest(token, "subscriptions/listen", { params: listen });
  const bytes = [one, two].map(({ headers, body = "" }) => {
    const lines = { host: "127.0.0.1", ...headers, "content-length": String(Buffer.byteLength(body)) };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
    return `POST /mcp HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${String(body)}`;
  });
  const socket = connect(stage.port, "127.0.0.1");
  socket.write(bytes.join(""));
  await stage.spinning();
  socket.destroy();
  await stage.nobody();
  await stage.runtime.close();
  expect(codesOf(stage, "Spin")).toEqual(["CANCELLED"]);
});
