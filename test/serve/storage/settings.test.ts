/** The storage routes by settings of the server: off, of one user, read-only, with scopes, with little policy. */
import type { OriginClass } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openHttpStage, writeAgentKeys } from "../../stage/http.ts";
import type { HttpStage, HttpStageOptions, ServedHttp, StorageClient } from "../../stage/http.ts";
import { trustingPolicy } from "../../support/trusting-policy.ts";
import { sharing, weather } from "./agents.ts";

const scopes = { claim: "scope", read: "memcell:read", write: "memcell:write", owner: "memcell:owner" };
const json = { "content-type": "application/json" };

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage(sharing());
});
afterAll(async () => await stage[Symbol.asyncDispose]());

test("without the setting there are no storage routes", async () => {
  await using closed = await stage.serve();
  const authorization = `Bearer ${await stage.issuer.token(weather)}`;
  for (const path of ["memory", "memory/k", "memory-scoped"]) {
    const asked = { method: "GET", path: `/api/storage/${path}`, headers: { authorization } };
    expect((await closed.ask(asked)).status).toBe(404);
  }
});

test("one user without tokens has its own memory, and no other user's", async () => {
  await using one = await stage.serve({ storage: {}, access: { kind: "one-user", userId: "alice" } });
  const put = async (agentId: string): Promise<number> => {
    const body = JSON.stringify({ value: 1, agentId });
    return (await one.ask({ method: "PUT", path: "/api/storage/memory/k", headers: json, body })).status;
  };
  expect([await put("alice"), await put("bob")]).toEqual([200, 403]);
  const authorization = `Bearer ${await stage.issuer.token("alice")}`;
  const asked = { method: "GET", path: "/api/storage/memory", headers: { authorization } };
  expect(await one.ask(asked)).toMatchObject({ status: 400 });
});

test.each([
  ...["POST", "HEAD"].map((method) => [method, "memory/k", "GET, PUT, DELETE"] as const),
  ["PUT", "memory", "GET, POST, DELETE"] as const,
  ["PATCH", "memory-scoped", "GET, PUT, POST, DELETE"] as const,
])("the method %s at %s is refused, on record", async (method, path, allow) => {
  const headers = { authorization: `Bearer ${await stage.issuer.token(weather)}` };
  stage.forget();
  const answer = await stage.ask({ method, path: `/api/storage/${path}`, headers });
  expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  if (method !== "HEAD") expect(JSON.parse(answer.body)).toEqual({ error: "Method not allowed" });
  expect(stage.refusals).toMatchObject([{ reason: "method-unknown" }]);
});

test("rates count as for MCP", async () => {
  await using slow = await stage.serve({ storage: {}, requestsPerMinute: 2 });
  stage.forget();
  for (const status of [200, 200, 429]) expect(await slow.as(weather)("GET", "memory")).toMatchObject({ status });
  expect(stage.refusals).toMatchObject([{ reason: "user-limited", userId: weather }]);
});

test("the server does not start without the plugin, or with MCP in the place of the routes", async () => {
  await expect(openHttpStage({ storage: {}, runtime: { plugins: ["journal"] } })).rejects.toThrow(
    'the plugin "stores" is not loaded, allowed: with --plugin stores',
  );
  const inPlace = stage.serve({ storage: {}, path: "/api/storage/memory" });
  await expect(inPlace).rejects.toThrow("other routes are below /api/storage/");
});

const pushed = { op: "put", namespace: "owner", key: "m", at: "2026-01-02T03:04:05.000Z", content: "c" };
const note = { namespace: "owner", key: "n", content: "c" };
const noteRead = "memory-scoped?action=get&namespace=owner&key=n";

const reads: readonly string[] = [
  ["memory/k", "memory", "memory?action=search&q=v", "memory?action=stores", noteRead],
  ["memory-scoped?action=list", "memory-scoped?action=search&q=c", "memory-scoped?action=sync&namespace=owner"],
].flat();

const writes: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["PUT", "memory/k", { value: "w" }],
  ["DELETE", "memory/k"],
  ["PUT", "memory/k", { value: "w", inContext: false }],
  ["POST", "memory?action=share", { grantee: "planner" }],
  ["DELETE", "memory?action=share&grantee=planner"],
  ["PUT", "memory-scoped", note],
  ["DELETE", "memory-scoped?namespace=owner&key=n"],
  ["POST", "memory-scoped?action=sync", { namespace: "owner", lines: [pushed] }],
];

async function fill(client: StorageClient): Promise<void> {
  expect((await client("PUT", "memory/k", { value: "v" })).status).toBe(200);
  expect((await client("PUT", "memory-scoped", note)).status).toBe(200);
}

async function expectKept(client: StorageClient): Promise<void> {
  expect(await client("GET", "memory/k")).toMatchObject({ status: 200, body: { value: "v" } });
  expect(await client("GET", noteRead)).toMatchObject({ body: { entry: { content: "c" } } });
}

describe("with scopes", () => {
  const user = "scoped";

  /** A client whose tokens have a scope. */
  const clientWith = (served: ServedHttp, scope: string): StorageClient => {
    const client = served.as(user);
    return async (method, path, body) => {
      const token = await stage.issuer.token(user, { claims: { scope } });
      return await client(method, path, body, { headers: { authorization: `Bearer ${token}` } });
    };
  };

  test("a token that may only read gets everything and changes nothing; one without a scope gets nothing", async () => {
    await using served = await stage.serve({ storage: {}, token: { scopes } });
    const [reader, writer] = [clientWith(served, "memcell:read"), clientWith(served, "openid memcell:write")];
    const nobody = clientWith(served, "openid");
    const insufficient = { status: 403, body: { error: "insufficient_scope" } };
    await fill(writer);
    for (const path of reads) {
      expect((await reader("GET", path)).status).toBe(200);
      expect(await nobody("GET", path)).toEqual(insufficient);
    }
    stage.forget();
    for (const [method, path, body] of writes) expect(await reader(method, path, body)).toEqual(insufficient);
    const refusal = { surface: "http", reason: "token-scope", userId: user, peer: "127.0.0.1" };
    expect(stage.refusals).toEqual(writes.map(() => refusal));
    await expectKept(reader);
    for (const [method, path, body] of writes) {
      expect({ method, path, answer: await writer(method, path, body) }).toMatchObject({ answer: { status: 200 } });
    }
  });

  test("the refusal of a change names the scope that it needs; an agent's key is no token and needs none", async () => {
    const key = "k".repeat(32);
    const agentKeys = writeAgentKeys(stage.folder, { [weather]: key });
    await using served = await stage.serve({ storage: { agentKeys }, token: { scopes } });
    const token = await stage.issuer.token(weather, { claims: { scope: "memcell:read" } });
    const put = { method: "PUT", path: "/api/storage/memory/k", body: JSON.stringify({ value: "v" }) };
    const refusal = await served.ask({ ...put, headers: { ...json, authorization: `Bearer ${token}` } });
    expect(refusal.headers["www-authenticate"]).toBe('Bearer error="insufficient_scope", scope="memcell:write"');
    expect((await served.ask({ ...put, headers: { ...json, "x-api-key": key } })).status).toBe(200);
  });
});

const reading = { rights: ["read", "list", "clock", "search", "grant_list"], scopes: ["store:*"] } as const;
const tools = { memory: reading, CallerNotes: { ...reading, audience: "host" } } as const;

const takenAway: readonly { readonly name: string; readonly runtime: NonNullable<HttpStageOptions["runtime"]> }[] = [
  { name: "a server that is read-only", runtime: { readOnly: true } },
  { name: "one whose policy grants only reading", runtime: { policy: { version: 1, plugins: { stores: { tools } } } } },
];

test.for(takenAway)("$name answers reads, and says of changes that they are not available", async ({ runtime }) => {
  const user = stage.user();
  await fill(stage.as(user));
  const { dataDir } = stage;
  await using closed = await openHttpStage(sharing({ runtime: { dataDir, ...runtime } }));
  const client = closed.as(user);
  for (const path of reads) expect((await client("GET", path)).status).toBe(200);
  for (const [method, path, body] of writes) {
    const error = path.includes("share") ? "Sharing is turned off on this server" : "Not available on this server";
    expect(await client(method, path, body)).toEqual({ status: 403, body: { error } });
  }
  await expectKept(client);
});

/** What the entries of an answer come from, and its fields. */
async function told(client: StorageClient, path: string): Promise<[fields: string[], origins: string[] | null]> {
  const { status, body } = await client("GET", path);
  expect(status).toBe(200);
  const { origins, ...fields } = body as { origins?: { name: string; trust: OriginClass }[] };
  return [Object.keys(fields), origins?.map(({ name, trust }) => `${name} ${trust}`) ?? null];
}

test("answers with entries say where they come from, unless it is the user", async () => {
  const policy = trustingPolicy({ active: "untrusted_document" });
  await using open = await openHttpStage(sharing({ runtime: { policy } }));
  for (const originClass of ["tool_external", "direct_user"] as const) {
    const served = await open.serve({ originClass, storage: { internalValues: true } });
    const client = served.as(originClass);
    const from = (path: string): string[] | null => (originClass === "direct_user" ? null : [`${path} ${originClass}`]);
    // A write shows nothing.
    for (const value of ["soup", "soups"]) {
      const { body } = await client("PUT", "memory/page.md", { value });
      expect(body).toEqual({ ok: true, key: "page.md", storeId: expect.any(String) as unknown });
    }
    expect((await told(client, "memory/page.md"))[1]).toEqual(from("page.md"));
    expect(await told(client, "memory")).toEqual([["entries"], from("page.md")]);
    expect(await told(client, "memory?action=search&q=soups")).toEqual([["entries"], from("page.md")]);
    const menu = { namespace: "shared", key: "menu", content: "soup" };
    expect(Object.keys((await client("PUT", "memory-scoped", menu)).body as object)).toEqual(["entry"]);
    for (const asked of ["list", "search&q=soup", "get&namespace=shared&key=menu", "sync&namespace=shared"]) {
      expect((await told(client, `memory-scoped?action=${asked}`))[1]).toEqual(from("_.ns/shared/menu_.md"));
    }
    await client("PUT", "memory/secret", { value: "x", inContext: false });
    const { body } = await client("GET", "memory/secret", undefined, { headers: { "content-type": [] } });
    expect(body).toEqual({ key: "secret", storeId: expect.any(String) as unknown, value: "x" });
  }
});
