/** Limits on what the server keeps for one user or connection. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";

import { expect, test } from "vitest";

import { modernRequest } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";

const listen = { notifications: { resourcesListChanged: true, resourceSubscriptions: ["memory://index"] } };

const tooMuch = [
  {
    name: "more than 8,192 values",
    reason: "body-unfit",
    status: 400,
    ask: (token: string) =>
      modernRequest(token, "tools/list", { asked: { body: JSON.stringify(Array(8_193).fill(0)) } }),
  },
  {
    name: "a stream of changes with more than 1,024 names",
    reason: "body-too-large",
    status: 413,
    ask: (token: string) => {
      const resourceSubscriptions = Array.from({ length: 1_025 }, (_, at) => `memory://user-memory/entry/${at}`);
      return modernRequest(token, "subscriptions/listen", { params: { notifications: { resourceSubscriptions } } });
    },
  },
  {
    name: "a stream of changes that names more than 384 KiB",
    reason: "body-too-large",
    status: 413,
    ask: (token: string) =>
      modernRequest(token, "subscriptions/listen", { params: { notifications: {}, x: "x".repeat(384 * 1024) } }),
  },
];

test.for(tooMuch)("refuses $name as $reason", async ({ reason, status, ask }) => {
  await using stage = await openHttpStage();
  expect((await stage.ask(ask(await stage.issuer.token("alice")))).status).toBe(status);
  expect(stage.refusals).toEqual([{ surface: "http", reason, userId: "alice", peer: "127.0.0.1" }]);
});

const lengths = [{ "content-length": "1048576" }, { "transfer-encoding": "chunked" }];
const rooms = [
  { name: "256 requests of one user at once", bodies: Array.from({ length: 256 }, () => ({ "content-length": "10" })) },
  {
    name: "bodies of one user that take 16 MiB together",
    bodies: Array.from({ length: 16 }, (_, at) => lengths[at % 2]),
  },
];

test.for(rooms)("$name fill the user's room, and other users have their own", async ({ bodies }) => {
  await using stage = await openHttpStage();
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
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
  await using stage = await openHttpStage();
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
  const { headers, body = "" } = modernRequest(alice, "subscriptions/listen", { params: listen });
  const lines = { host: "127.0.0.1", ...headers, "content-length": String(Buffer.byteLength(body)) };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
  const socket = connect(stage.port, "127.0.0.1");
  socket.on("error", () => null);
  socket.resume();
  socket.write(`POST /mcp HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${String(body)}`.repeat(17));
  await once(socket, "close");
  expect(stage.refusals).toContainEqual({ surface: "http", reason: "http-malformed", peer: "127.0.0.1" });
  await stage.nobody();
  expect((await stage.rpc(bob, "tools/list")).status).toBe(200);
});
