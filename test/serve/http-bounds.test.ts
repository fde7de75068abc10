/** Limits on what the server takes from one user, address or connection, and on what it keeps and logs for them. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { bytesOf, legacyRequest, modernRequest, sendBytes } from "../stage/http-requests.ts";
import type { Answer } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";
import { entry } from "../stage/serve-lines.ts";
import { makeKey } from "../stage/token-issuer.ts";

let stage: HttpStage;
let alice: string;
let bob: string;
beforeAll(async () => {
  stage = await openHttpStage();
  [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const listening = { resourcesListChanged: true, resourceSubscriptions: ["memory://index"] };

function connected(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => null);
  return socket;
}

const times = async (count: number, ask: () => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let at = 0; at < count; at++) answers.push(await ask());
  return answers;
};
const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);

test("more requests than allowed per minute: alice is limited, bob is not", async () => {
  await using served = await stage.serve({ requestsPerMinute: 20 });
  const answers = await times(30, () => served.rpc(alice, "tools/list"));
  const limited = answers.filter(({ status }) => status === 429);
  expect(statuses(answers)).toEqual([...Array<number>(30 - limited.length).fill(200), ...statuses(limited)]);
  expect(limited.length).toBeGreaterThanOrEqual(10);
  expect(limited[0]?.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  expect((await served.rpc(bob, "tools/list")).status).toBe(200);
  expect(stage.refusals.map(({ reason, userId }) => [reason, userId])).toEqual(
    limited.map(() => ["user-limited", "alice"]),
  );
});

test("after 300 bad tokens from an address, it gets in only with a good one that is known", async () => {
  await using served = await stage.serve();
  const ask = (token: string): Promise<Answer> => served.rpc(token, "tools/list");
  const short = await stage.issuer.token("alice", { endsInS: 2 });
  expect(statuses([await ask(short), await ask(alice)])).toEqual([200, 200]);
  const forged = await stage.issuer.token("bob", { signer: await makeKey("ES256", "key-1") });
  const answers = await times(305, () => ask(forged));
  expect(statuses(answers)).toEqual([...Array<number>(300).fill(401), ...Array<number>(5).fill(429)]);
  expect(answers.at(-1)?.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  expect((await ask(await stage.issuer.token("bob", { claims: { jti: "new" } }))).status).toBe(429);
  expect((await ask(alice)).status).toBe(200);
  // Once it has expired, a token that was good is a bad one.
  let { status } = await ask(short);
  while (status === 200) ({ status } = await ask(short));
  expect([status, (await ask(short)).status]).toEqual([401, 429]);
});

const names = Array.from({ length: 1_025 }, (_, at) => `memory://user-memory/entry/${at}`);
test.for([
  { name: "more than 1,024 names", params: { notifications: { resourceSubscriptions: names } } },
  { name: "names of more than 384 KiB", params: { notifications: {}, x: "x".repeat(384 * 1024) } },
])("refuses a stream of changes with $name", async ({ params }) => {
  expect((await stage.rpc(alice, "subscriptions/listen", params)).status).toBe(413);
  expect(stage.refusals).toEqual([{ surface: "http", reason: "body-too-large", userId: "alice", peer: "127.0.0.1" }]);
});

const lengths = [{ "content-length": "1048576" }, { "transfer-encoding": "chunked" }];
test.for([
  { name: "256 requests of one user at once", bodies: Array.from({ length: 256 }, () => ({ "content-length": "10" })) },
  { name: "bodies of one user of 16 MiB together", bodies: Array.from({ length: 16 }, (_, at) => lengths[at % 2]) },
])("$name fill the user's room, and other users have their own", async ({ bodies }) => {
  const { headers } = modernRequest(alice, "tools/list");
  // Each request is admitted before its body has arrived.
  const held = bodies.map((body) => {
    const asking = request(stage.url, { method: "POST", headers: { ...headers, ...body }, agent: false });
    asking.on("error", () => null);
    asking.flushHeaders();
    return asking;
  });
  await Promise.all(held.map((asking) => once(asking, "socket")));
  let answer = await stage.rpc(alice, "tools/list");
  while (answer.status === 200) answer = await stage.rpc(alice, "tools/list");
  expect(answer.status).toBe(429);
  expect(stage.refusals).toMatchObject([{ reason: "user-busy", userId: "alice" }]);
  expect((await stage.rpc(bob, "tools/list")).status).toBe(200);
  for (const asking of held) asking.destroy();
  await stage.nobody();
  expect((await stage.rpc(alice, "tools/list")).status).toBe(200);
});

test("cuts a connection with too many waiting requests, and others go on", async () => {
  const socket = connected(stage.port);
  socket.resume();
  const listen = modernRequest(alice, "subscriptions/listen", { params: { notifications: listening } });
  socket.write(bytesOf(listen).repeat(17));
  await once(socket, "close");
  expect(stage.refusals).toContainEqual({ surface: "http", reason: "http-malformed", peer: "127.0.0.1" });
  await stage.nobody();
  expect((await stage.rpc(bob, "tools/list")).status).toBe(200);
});

test("cuts a stream that is not read", async () => {
  const socket = connected(stage.port);
  socket.pause();
  // One entry, whose URI can be spelt in many ways: each change tells of all.
  const name = "abcdefghij".repeat(10);
  const letters = Array.from(name, (letter) => [letter, `%${letter.charCodeAt(0).toString(16)}`] as const);
  const spelt = (at: number): string => letters.map((spellings, bit) => spellings[(at >> (bit % 10)) & 1]).join("");
  const resourceSubscriptions = Array.from({ length: 1_000 }, (_, at) => `memory://user-memory/entry/${spelt(at)}`);
  const params = { notifications: { resourceSubscriptions } };
  socket.write(bytesOf(modernRequest(alice, "subscriptions/listen", { params })));
  while (stage.server.open.streams === 0) await stage.rpc(bob, "tools/list");
  for (let changes = 0; stage.server.open.streams > 0 && changes < 400; changes++) {
    await stage.runtime.call("UpdateUserMemory", entry(name, String(changes)), { userId: "alice" });
  }
  expect(stage.server.open.streams).toBe(0);
  socket.destroy();
  await stage.nobody();
});

test("refuses a body that is cut short, and nothing waits for the rest", async () => {
  const served = await stage.serve();
  const socket = connected(served.port);
  // The socket ends with the data, so the client is gone before the token is verified.
  socket.end(bytesOf({ ...modernRequest(alice, "tools/list"), body: '{"jsonrpc"' }, { "content-length": "100" }));
  socket.resume();
  await once(socket, "close");
  await served.server.close();
  expect(stage.refusals.map(({ reason }) => reason).toSorted()).toEqual(["body-cut", "http-malformed"]);
});

test("a client that disconnects during its CONNECT ends only its connection", async () => {
  for (let count = 0; count < 20; count++) {
    const socket = connected(stage.port);
    await once(socket, "connect");
    socket.write(`CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${"x".repeat(70_000)}`);
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  expect((await stage.ask({ method: "GET", path: "/healthz" })).status).toBe(200);
});

/** A text with which a client tries to write a line of its own. */
const forged = "x%0aerror http: forged\\n";

test("the operator's log has each refusal's reason and nothing of the client's, and counts a flood", async () => {
  await using own = await openHttpStage();
  const of = own.issuer;
  await own.rpc(await of.token("mallory", { signer: await makeKey("ES256", forged) }), "tools/list");
  await own.rpc(await of.token("mallory/\nerror http: forged"), "tools/list");
  await own.rpc(await of.token("mallory"), "tools/list", {}, { headers: { host: "evil.example" } });
  await own.ask({ method: "GET", path: `/${forged.replaceAll(" ", "%20")}` });
  await sendBytes(own.port, "\u001b[31mnot HTTP\r\n\r\n");
  const reasons = ["token-key", "token-user", "host-unknown", "path-unknown", "http-malformed"];
  const lines = reasons.map((reason) => ["warn", "http", `refused a request from 127.0.0.1: ${reason}`]);
  const logged = (): string[][] => own.log.map(({ level, tool, text }) => [level, tool, text]);
  expect(logged()).toEqual(lines);
  for (let count = 0; count < 100; count++) await own.ask({ method: "GET", path: "/none" });
  await own.runtime.close();
  const refused = logged().filter(([, tool]) => tool === "http");
  expect(refused).toHaveLength(61);
  expect(refused.at(-1)?.[2]).toBe("refused 45 more requests in a minute: path-unknown");
});

test("logs each client mistake in one short line, up to a limit per minute", async () => {
  const result = { text: `\u001b[2J\n${"A".repeat(100_000)}` };
  for (let id = 0; id < 120; id++) {
    expect((await stage.ask(legacyRequest(alice, { id, result }))).status).toBe(202);
  }
  expect(stage.log).toHaveLength(100);
  for (const { text } of stage.log) {
    expect(text.length).toBeLessThan(300);
    expect(text).toMatch(/^mcp: Received a response for an unknown message ID: [\x20-\x7e]+$/);
  }
});
