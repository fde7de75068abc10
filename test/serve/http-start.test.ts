/** How a server starts and ends: its addresses, who has access, and what happens to running requests. */
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";

import { expect, test } from "vitest";

import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import type { HttpServeOptions } from "../../host/serve/serve-options.ts";
import { writeSpinner } from "../bounds/bounded-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { askServer, modernRequest, openSession, sendBytes } from "./http-requests.ts";
import { openHttpStage, serveDefaults, tokenOptions } from "./http-stage.ts";

const alone = { kind: "one-user", userId: "alice" } as const;

test.for(["0.0.0.0", "::", "192.0.2.1", "memory.example", "127.0.0.1.example", "127.1", "2130706433"])(
  "does not serve one user on %s, whatever the settings say",
  async (host) => {
    await using stage = await openHttpStage();
    const starting = startHttpServer(stage.runtime, {
      ...serveDefaults,
      access: alone,
      host,
      allowedHosts: ["localhost"],
    });
    await expect(starting).rejects.toThrow("allowed are loopback addresses");
  },
);

test.for(["127.0.0.1", "127.0.0.9", "::1", "localhost"])(
  "serves one user on %s, and refuses a request with a token",
  async (host) => {
    await using stage = await openHttpStage();
    const server = await startHttpServer(stage.runtime, { ...serveDefaults, access: alone, host });
    const { headers, body = "" } = modernRequest("", "tools/list");
    const { authorization: _, ...others } = headers as Record<string, string>;
    const answer = await fetch(server.url, { method: "POST", headers: others, body: String(body) });
    expect(answer.status).toBe(200);
    const shown = { ...others, authorization: `Bearer ${await stage.issuer.token("bob")}` };
    expect((await fetch(server.url, { method: "POST", headers: shown, body: String(body) })).status).toBe(400);
    expect(stage.refusals).toMatchObject([{ reason: "token-unexpected" }]);
    await server.close();
  },
);

test.for<{ name: string; options: Partial<HttpServeOptions>; message: string }>([
  { name: "the path of a health check", options: { path: "/healthz" }, message: "Cannot serve at the path" },
  { name: "a path that climbs", options: { path: "/x/../mcp" }, message: "Cannot serve at the path" },
  { name: "no allowed host", options: { host: "0.0.0.0" }, message: "allowedHosts is empty" },
  {
    name: "an invalid user",
    options: { access: { kind: "one-user", userId: "../bob" } },
    message: "allowed: 1 to 128 bytes",
  },
])("does not start with $name", async ({ options, message }) => {
  await using stage = await openHttpStage();
  const access = { kind: "token", token: tokenOptions(stage.issuer) } as const;
  await expect(startHttpServer(stage.runtime, { ...serveDefaults, access, ...options })).rejects.toThrow(message);
});

test("answers to its own host names and the configured ones, and to no others", async () => {
  await using stage = await openHttpStage({
    allowedHosts: ["Memory.internal"],
    publicUrl: "https://memory.example/mcp",
  });
  const token = await stage.issuer.token("alice");
  const statusOf = async (host: string): Promise<number> =>
    (await stage.rpc(token, "tools/list", {}, { headers: { host } })).status;
  for (const host of ["localhost", "127.0.0.1:1", "[::1]:80", "LOCALHOST", "memory.internal:8443", "memory.example"]) {
    expect(await statusOf(host)).toBe(200);
  }
  for (const host of ["", "memory.example.evil", "127.0.0.2", "memory.example:", "memory.example:80:80"]) {
    expect(await statusOf(host)).toBe(403);
  }
});

test("an allowed page gets CORS headers, in the preflight and with the answer; no other header admits a page", async () => {
  await using stage = await openHttpStage({ allowedOrigins: ["https://app.example"] });
  const origin = "https://app.example";
  const preflight = await stage.ask({
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE",
    vary: "Origin",
  });
  expect(preflight.headers["access-control-allow-headers"]).toContain("Authorization");
  const token = await stage.issuer.token("alice");
  const answer = await stage.rpc(token, "tools/list", {}, { headers: { origin } });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
  expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
  // A page must be able to read why it was refused.
  const refused = await stage.ask({ headers: { origin }, body: "{}" });
  expect(refused.headers["access-control-allow-origin"]).toBe(origin);
  const program = await stage.rpc(token, "tools/list");
  expect(program.headers).not.toHaveProperty("access-control-allow-origin");
});

test("health checks work with any host name and without a token, and nothing is recorded", async () => {
  await using stage = await openHttpStage();
  for (const path of ["/healthz", "/readyz"]) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await stage.ask({ method, path, headers: { host: "10.0.0.1:7391" } });
      expect({ status: answer.status, body: answer.body.length < 10 }).toEqual({ status: 200, body: true });
    }
  }
  expect(stage.refusals).toEqual([]);
});

test.for([
  { name: "text that is not HTTP", bytes: "hello\r\n\r\n", status: "400" },
  { name: "headers without an end", bytes: `GET /mcp HTTP/1.1\r\nx: ${"x".repeat(17_000)}`, status: "431" },
  {
    name: "two lengths",
    bytes: "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    status: "400",
  },
  {
    name: "a length and chunks",
    bytes: "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    status: "400",
  },
])("refuses $name as malformed", async ({ bytes, status }) => {
  await using stage = await openHttpStage();
  expect(await sendBytes(stage.port, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(stage.refusals).toEqual([{ surface: "http", reason: "http-malformed", peer: "127.0.0.1" }]);
});

test("finds a second token after 2,000 other headers", async () => {
  await using stage = await openHttpStage();
  const token = await stage.issuer.token("alice");
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${token}`,
    ...Array<string>(2_500).fill("a:"),
    "Authorization: Bearer x.y.z",
  ];
  const answer = await sendBytes(stage.port, `${head.join("\r\n")}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(stage.refusals).toMatchObject([{ reason: "header-repeated" }]);
});

test("a server that closes answers running requests, ends its streams and accepts nothing new", async () => {
  using folder = temporaryFolder();
  const begun = new EventEmitter();
  const clock = (): number => (begun.emit("begin"), 1_700_000_000_000);
  const plugins = [writeSpinner(folder.path, 10_000), shippedPlugin("user-memory")];
  const runtime = { plugins, policy: policyFor(plugins), clock, deadlineMs: 1_500 };
  await using stage = await openHttpStage({ runtime });
  const token = await stage.issuer.token("alice");
  await openSession(stage, token);
  const stream = stage.rpc(token, "subscriptions/listen", { notifications: { resourcesListChanged: true } });
  const idle = connect(stage.port, "127.0.0.1");
  await once(idle, "connect");
  const spinning = once(begun, "begin");
  const answered = stage.rpc(token, "tools/call", { name: "Spin", arguments: {} });
  await spinning;
  const closing = stage.server.close();
  idle.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  const { status, body } = await answered;
  expect(status).toBe(200);
  expect(body).toContain("DEADLINE_EXCEEDED");
  // The stream ends with a result instead of being cut.
  expect((await stream).body).toContain('"resultType":"complete"');
  await closing;
  await expect(askServer(stage.port, { method: "GET", path: "/healthz" })).rejects.toThrow("ECONNREFUSED");
  await stage.nobody();
  idle.destroy();
});

test("cancels what runs longer than the grace period", async () => {
  using folder = temporaryFolder();
  const begun = new EventEmitter();
  const clock = (): number => (begun.emit("begin"), 1_700_000_000_000);
  const plugins = [writeSpinner(folder.path, 10_000)];
  await using stage = await openHttpStage({
    runtime: { plugins, policy: policyFor(plugins), clock },
    closeGraceMs: 50,
  });
  const spinning = once(begun, "begin");
  const answered = stage.rpc(await stage.issuer.token("alice"), "tools/call", { name: "Spin", arguments: {} });
  await spinning;
  await stage.server.close();
  expect((await answered).status).toBe(503);
  await stage.runtime.close();
  expect(stage.records().filter(({ kind }) => kind === "call")).toMatchObject([{ tool: "Spin", code: "CANCELLED" }]);
});

test("a client that disconnects during its CONNECT ends only its connection", async () => {
  await using stage = await openHttpStage();
  for (let count = 0; count < 50; count++) {
    const socket = connect(stage.port, "127.0.0.1");
    socket.on("error", () => null);
    await once(socket, "connect");
    socket.write(`CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${"x".repeat(70_000)}`);
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  expect((await stage.ask({ method: "GET", path: "/healthz" })).status).toBe(200);
});
