/** `/api/storage/memory`: every route of it, with every status that it has; grants, and values of programs. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openHttpStage } from "../../stage/http.ts";
import type { HttpStage, StorageClient } from "../../stage/http.ts";
import { policyFor } from "../../support/policy-for.ts";
import { shippedPlugin } from "../../support/test-plugin.ts";
import { planner, plannerStore, sharing, weather } from "./agents.ts";

let stage: HttpStage;
let own: StorageClient;
let theirs: StorageClient;

beforeAll(async () => {
  stage = await openHttpStage(sharing());
  [own, theirs] = [stage.as(weather), stage.as(planner)];
});
afterAll(async () => await stage[Symbol.asyncDispose]());

test("an entry is put, got, replaced and deleted", async () => {
  const ok = { status: 200, body: { ok: true, key: "notes.md", storeId: weather } };
  expect(await own("PUT", "memory/notes.md", { value: "one", ttl: 0, agentId: weather, store: weather })).toEqual(ok);
  expect(await own("PUT", "memory/notes.md", { value: "two", ttl: null })).toEqual(ok);
  const shown = { key: "notes.md", storeId: weather, owner: weather, expires: null, encrypted: false, bytes: 3 };
  const times = { created: expect.any(String) as unknown, updated: expect.any(String) as unknown };
  expect(await own("GET", `memory/notes.md?agentId=${weather}&store=${weather}&chatId=c&userId=u`)).toEqual({
    status: 200,
    body: { ...shown, ...times, value: "two" },
  });
  expect(await own("DELETE", "memory/notes.md")).toEqual({ status: 200, body: { ok: true } });
  expect(await own("DELETE", "memory/notes.md")).toMatchObject({ status: 404 });
  expect(await own("GET", "memory/notes.md")).toEqual({ status: 404, body: { error: "Memory not found" } });
});

test("a key is decoded once, and may have slashes, encoded or not", async () => {
  for (const [address, key] of [
    ["a/b", "a/b"],
    ["a%2Fb", "a/b"],
    ["a%252Fb", "a%2Fb"],
    ["%C3%BC%20x", "ü x"],
    ["a%3Fc%23d", "a?c#d"],
    ["a+b", "a+b"],
    ["-scoped", "-scoped"],
  ]) {
    expect(await own("PUT", `memory/${address}`, { value: key })).toMatchObject({ status: 200, body: { key } });
    expect(await own("GET", `memory/${address}`)).toMatchObject({ status: 200, body: { key, value: key } });
  }
});

test("a value: any JSON but nothing, at most 100 KiB", async () => {
  for (const value of [null, 0, false, "", [], { a: { b: [1] } }]) {
    expect(await own("PUT", "memory/v", { value })).toMatchObject({ status: 200 });
    expect(await own("GET", "memory/v")).toMatchObject({ body: { value } });
  }
  const large = { status: 413, body: { error: "Value too large" } };
  expect(await own("PUT", "memory/v", { value: "x".repeat(102_400) })).toMatchObject({ status: 200 });
  expect(await own("PUT", "memory/v", { value: "x".repeat(102_401) })).toEqual(large);
});

const noKeys = ["", "a/", "a%2F", "%2e%2e", "a%2F..%2Fb", "a//b", "%00", "%ff", "%zz", "k".repeat(201), "shared%2Fx"];
const noFields: readonly object[] = [
  [{ ttl: -1 }, { ttl: 0.5 }, { ttl: "60" }, { ttl: 1e300 }, { inContext: "false" }, { encrypted: 1 }],
  // Of values that only programs see.
  [{ encrypted: true }, { namespace: "x" }],
].flat();
const noGrants: readonly object[] = [
  [{ grantee: "" }, { grantee: "a/b" }, { grantee: weather }, { grantee: planner, level: "admin" }],
  [{ grantee: planner, ttl: 5 }, { level: "read" }, {}],
].flat();

test.for<readonly [method: string, path: string, body?: object]>([
  ...noKeys.map((key) => ["PUT", `memory/${key}`, { value: 1 }] as const),
  ["PUT", "memory/v", { ttl: 0 }],
  ...noFields.map((field) => ["PUT", "memory/v", { value: 1, ...field }] as const),
  ...noGrants.map((grant) => ["POST", "memory?action=share", grant] as const),
  ["GET", "memory?inContext=false"],
  ["GET", "memory?prefix=../"],
])("%s %s %o is refused", async ([method, path, body]) => {
  const error = expect.any(String) as unknown;
  expect(await own(method, path, body)).toEqual({ status: 400, body: { error } });
});

test("an entry ends after its time to live", async () => {
  await own("PUT", "memory/short", { value: 1, ttl: 3_600 });
  const { body } = await own("GET", "memory/short");
  const { updated, expires } = body as { updated: string; expires: string };
  expect(Date.parse(expires) - Date.parse(updated)).toBe(3_600_000);
});

test("the thousandth key is the last", async () => {
  const many = stage.as("many");
  await many("PUT", "memory/first", { value: 1 });
  const entries = join(stage.dataDir, "stores", storeIdOf("many"), "entries");
  for (let at = 2; at < 1_000; at++) writeFileSync(join(entries, `by-hand-${at}.md`), "written by a person");
  // They count when the files are counted again, and this has them counted now.
  rmSync(join(entries, "_.index/counts.json"));
  expect(await many("PUT", "memory/last", { value: 1 })).toMatchObject({ status: 200 });
  const full = { status: 429, body: { error: "Key limit reached for this store" } };
  expect(await many("PUT", "memory/one-more", { value: 1 })).toEqual(full);
  expect(await many("PUT", "memory/last", { value: 2 })).toMatchObject({ status: 200 });
});

test("a listing has the keys below a prefix, which is a text and no pattern", async () => {
  const list = stage.as("lister");
  for (const key of ["a/b", "a/bc", "a%25", "A"]) await list("PUT", `memory/${key}`, { value: 1 });
  const keys = async (query: string): Promise<unknown> => {
    const { body } = await list("GET", `memory?inContext=true${query}`);
    return (body as { entries: { key: string }[] }).entries.map(({ key }) => key);
  };
  expect(await keys("")).toEqual(["A", "a%", "a/b", "a/bc"]);
  expect(await keys("&prefix=a/")).toEqual(["a/b", "a/bc"]);
  expect(await keys("&prefix=%25")).toEqual([]);
});

describe("grants", () => {
  test("each level opens what it says, and a search opens no listing", async () => {
    await own("PUT", "memory/tea", { value: "green tea" });
    const at = `store=${weather}`;
    const statuses = async (): Promise<number[]> => {
      const answers = [
        await theirs("GET", `memory?action=search&q=tea&${at}`),
        await theirs("GET", `memory/tea?${at}`),
        await theirs("GET", `memory?${at}`),
        await theirs("PUT", "memory/x", { value: 1, store: weather }),
        await theirs("DELETE", `memory/x?${at}`),
        await theirs("POST", "memory?action=share", { store: weather, grantee: "carol" }),
        await theirs("DELETE", `memory?action=share&grantee=carol&${at}`),
      ];
      return answers.map(({ status }) => status);
    };
    const none = Array<number>(7).fill(403);
    expect(await statuses()).toEqual(none);
    for (const [level, expected] of [
      ["search", [200, 403, 403, 403, 403, 403, 403]],
      ["read", [200, 200, 200, 403, 403, 403, 403]],
      // The default.
      [null, [200, 200, 200, 403, 403, 403, 403]],
      ["readwrite", [200, 200, 200, 200, 200, 403, 403]],
    ] as const) {
      expect(await own("POST", "memory?action=share", { grantee: plannerStore, level })).toMatchObject({ status: 200 });
      expect(await statuses()).toEqual(expected);
    }
    const stores = [
      { storeId: plannerStore, level: "readwrite", source: "self" },
      { storeId: weather, level: "readwrite", source: "grant" },
    ];
    expect(await theirs("GET", "memory?action=stores")).toEqual({ status: 200, body: { stores } });
    expect(await theirs("GET", "memory?action=search&q=tea")).toMatchObject({ body: { entries: [{ key: "tea" }] } });
    expect(await own("DELETE", `memory?action=share&grantee=${planner}`)).toMatchObject({ status: 200 });
    expect(await own("DELETE", `memory?action=share&grantee=${planner}`)).toMatchObject({ status: 404 });
    expect(await statuses()).toEqual(none);
  });

  test("two creators of one key are both shown, and each deletes its own", async () => {
    await own("POST", "memory?action=share", { grantee: planner, level: "readwrite" });
    await own("PUT", "memory/both", { value: "mine" });
    await theirs("PUT", "memory/both", { value: "theirs", store: weather });
    expect(await own("GET", "memory/both")).toMatchObject({
      body: { value: "mine", owner: weather, others: [{ value: "theirs", owner: plannerStore }] },
    });
    for (const status of [200, 403]) expect(await own("DELETE", "memory/both")).toMatchObject({ status });
    await own("DELETE", `memory?action=share&grantee=${planner}`);
  });

  test("without sharing by models, nobody shares, and it is on record", async () => {
    await using closed = await openHttpStage({ storage: {} });
    const client = closed.as(weather);
    const off = { status: 403, body: { error: "Sharing is turned off on this server" } };
    expect(await client("POST", "memory?action=share", { grantee: planner })).toEqual(off);
    expect(await client("DELETE", `memory?action=share&grantee=${planner}`)).toEqual(off);
    expect(closed.refusals.map(({ reason, userId }) => [reason, userId])).toEqual([
      ["storage-sharing-off", weather],
      ["storage-sharing-off", weather],
    ]);
  });
});

describe("what programs set out of sight of models", () => {
  const secret = { value: { key: "k-1" }, inContext: false, encrypted: true };
  const asProgram = { headers: { "content-type": [] } };

  test("is not returned unless the operator allows it", async () => {
    expect(await own("PUT", "memory/api", secret)).toMatchObject({ status: 200 });
    for (const path of ["memory/api", "memory/api?namespace=x"]) {
      expect(await own("GET", path, undefined, asProgram)).toMatchObject({ status: 404 });
    }
    expect(JSON.stringify(await own("GET", "memory"))).not.toContain("api");
  });

  test("then, only to a request without a content type", async () => {
    await using open = await stage.serve({ storage: { internalValues: true } });
    const client = open.as(weather);
    await client("PUT", "memory/api", secret);
    await client("PUT", "memory/api", { ...secret, value: 2, namespace: "billing" });
    expect(await client("GET", "memory/api")).toMatchObject({ status: 404 });
    const got = await client("GET", "memory/api", undefined, asProgram);
    expect(got).toEqual({ status: 200, body: { key: "api", storeId: weather, value: { key: "k-1" } } });
    const billing = await client("GET", "memory/api?namespace=billing", undefined, asProgram);
    expect(billing).toMatchObject({ body: { value: 2 } });
    expect(await client("GET", "memory/api?namespace=other", undefined, asProgram)).toMatchObject({ status: 404 });
    await client("PUT", "memory/shown", { value: 3 });
    expect(await client("GET", "memory/shown", undefined, asProgram)).toMatchObject({ body: { value: 3 } });
  });

  test("without the tool for them, programs get what models see, and no value under a namespace", async () => {
    const { GetInternal: _, ...tools } = policyFor([shippedPlugin("stores")]).plugins["stores"]?.tools ?? {};
    const policy = { version: 1 as const, plugins: { stores: { tools } } };
    const runtime = { plugins: ["stores"], policy };
    await using open = await openHttpStage({ storage: { internalValues: true }, runtime });
    const client = open.as(weather);
    await client("PUT", "memory/shown", { value: 3 });
    expect(await client("GET", "memory/shown", undefined, asProgram)).toMatchObject({
      status: 200,
      body: { value: 3 },
    });
    expect((await client("GET", "memory/shown?namespace=billing", undefined, asProgram)).status).toBe(403);
  });
});
