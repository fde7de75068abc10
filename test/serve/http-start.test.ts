/** How a server starts and ends: its addresses, and who has access. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { HttpProcess } from "../stage/http-process.ts";
import { legacyRequest, modernRequest } from "../stage/http-requests.ts";
import { connectClient, openHttpStage } from "../stage/http.ts";
import type { HttpStage, ServerOptions } from "../stage/http.ts";
import { entry } from "../stage/serve-lines.ts";
import { audience, issuer } from "../stage/token-issuer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let stage: HttpStage;
let token: string;
beforeAll(async () => {
  stage = await openHttpStage();
  token = await stage.issuer.token("alice");
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const alone = { kind: "one-user", userId: "alice" } as const;
const withTokens = ["--issuer", issuer, "--audience", audience];

const foreignAddresses = ["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.example", "::ffff:127.0.0.1", "2130706433"];

test.for(foreignAddresses)("does not serve one user on %s, whatever the settings say", async (host) => {
  const starting = stage.serve({ access: alone, host, allowedHosts: ["localhost"] });
  await expect(starting).rejects.toThrow("allowed are loopback addresses");
  const args = ["serve", "--http", "--port", "0", "--user", "alice", "--host", host, "--data", stage.folder];
  expect(await memcell(args)).toMatchObject({ status: 2, stderr: expect.stringContaining("loopback") as unknown });
});

test.for(["127.0.0.1", "127.0.0.9", "::1", "localhost"])(
  "serves one user on %s, and refuses a request with a token",
  async (host) => {
    await using served = await stage.serve({ access: alone, host });
    const { headers, body = "" } = modernRequest(token, "tools/list");
    const { authorization, ...others } = headers as Record<string, string>;
    const statusWith = async (more: object): Promise<number> =>
      (await fetch(served.url, { method: "POST", headers: { ...others, ...more }, body: String(body) })).status;
    expect([await statusWith({}), await statusWith({ authorization })]).toEqual([200, 400]);
    expect(stage.refusals).toMatchObject([{ reason: "token-unexpected" }]);
  },
);

test.for<readonly [name: string, options: ServerOptions, message: string]>([
  ["the path of a health check", { path: "/healthz" }, "Cannot serve at the path"],
  ["a path that climbs", { path: "/x/../mcp" }, "Cannot serve at the path"],
  ["no allowed host", { host: "0.0.0.0" }, "allowedHosts is empty"],
  ["an invalid user", { access: { kind: "one-user", userId: "../bob" } }, "allowed: 1 to 128 bytes"],
])("does not start with %s", async ([, options, message]) => {
  await expect(stage.serve(options)).rejects.toThrow(message);
});

test("the command does not start with a missing key, and says why without the folder", async () => {
  const { status, stderr } = await memcell(["serve", "--http", ...withTokens, "--public-key", "none.pem"], {
    cwd: stage.folder,
  });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("cannot be read") as unknown });
  expect(stderr).not.toContain(stage.folder);
});

test.for(["SIGTERM", "SIGINT"] as const)("a process serves clients and shuts down in order on %s", async (signal) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "key.pem");
  writeFileSync(file, await stage.issuer.publicPem());
  const args = [...withTokens, "--public-key", file];
  await using served = new HttpProcess(args, { cwd: folder.path });
  const client = await connectClient(await served.url(), token, "legacy");
  expect(await client.callTool({ name: "UpdateUserMemory", arguments: { ...entry("editor") } })).toMatchObject({
    structuredContent: { outcome: "created" },
  });
  expect(await served.end(signal)).toMatchObject({ code: 0, stdout: "" });
  await client.close();
  // Another server of the same settings, memory and tokens goes on where it has stopped.
  await using next = new HttpProcess(args, { cwd: folder.path });
  const read = { name: "ReadUserMemory", arguments: { name: "editor" } };
  const { body } = await next.ask(legacyRequest(token, { id: 1, method: "tools/call", params: read }));
  expect(body).toContain("structuredContent");
});

test("answers to its own host names and the configured ones, and to no others", async () => {
  await using served = await stage.serve({
    allowedHosts: ["Memory.internal", "memcell_app"],
    publicUrl: "https://memory.example/mcp",
  });
  for (const [host, status] of [
    ["[::1]:80", 200],
    ["memory.internal:8443", 200],
    ["memcell_app:7391", 200],
    ["memcell_app_", 403],
    ["memory.example", 200],
    ["memory.example.evil", 403],
  ] as const) {
    expect({ host, ...(await served.rpc(token, "tools/list", {}, { headers: { host } })) }).toMatchObject({ status });
  }
});

test("an allowed page gets CORS headers, in the preflight and with the answer; no other header admits a page", async () => {
  const origin = "https://app.example";
  await using served = await stage.serve({ allowedOrigins: [origin] });
  const asked = { origin, "access-control-request-method": "POST" };
  const preflight = await served.ask({ method: "OPTIONS", headers: asked });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE",
    vary: "Origin",
  });
  expect(preflight.headers["access-control-allow-headers"]).toContain("Authorization");
  const answer = await served.rpc(token, "tools/list", {}, { headers: { origin } });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
  expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
  // A page must be able to read why it was refused.
  const refused = await served.ask({ headers: { origin }, body: "{}" });
  expect(refused.headers["access-control-allow-origin"]).toBe(origin);
  const program = await served.rpc(token, "tools/list");
  expect(program.headers).not.toHaveProperty("access-control-allow-origin");
});

test("health checks work with any host name and without a token, and nothing is recorded", async () => {
  for (const path of ["/healthz", "/readyz"]) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await stage.ask({ method, path, headers: { host: "10.0.0.1:7391" } });
      expect({ status: answer.status, body: answer.body.length < 10 }).toEqual({ status: 200, body: true });
    }
  }
  expect(stage.refusals).toEqual([]);
});
