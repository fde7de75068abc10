/** `/api/storage/memory`: every route of it, with every status that it has. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openStorageStage, planner, plannerStore, weather } from "./stage.ts";
import type { StorageClient, StorageStage } from "./stage.ts";

let stage: StorageStage;
let own: StorageClient;
let theirs: StorageClient;

beforeAll(async () => {
  stage = await openStorageStage();
  [own, theirs] = [stage.as(weather), stage.as(planner)];
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const denied = { status: 403, body: { error: "Access denied to this store" } };
const unknownStore = "99999999-1111-4111-8111-111111111111";

test("an entry is put, got, replaced and deleted", async () => {
  const ok = { status: 200, body: { ok: true, key: "notes.md", storeId: weather } };
  expect(await own("PUT", "memory/notes.md", { value: "one", ttl: 0, agentId: weather, store: weather })).toEqual(ok);
  expect(await own("PUT", "memory/notes.md", { value: "two", ttl: null })).toEqual(ok);
  expect(await own("GET", `memory/notes.md?agentId=${weather}&store=${weather}&chatId=c&userId=u`)).toEqual({
    status: 200,
    body: {
      key: "notes.md",
      storeId: weather,
      owner: weather,
      created: expect.any(String) as unknown,
      updated: expect.any(String) as unknown,
      expires: null,
      encrypted: false,
      bytes: 3,
      value: "two",
    },
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

test.each([
  "",
  "a/",
  "a%2F",
  "..",
  "%2e%2e",
  "a/../b",
  "a%2F..%2Fb",
  ".",
  "/a",
  "a//b",
  "%00",
  "a%0Ab",
  "%ff",
  "%",
  "%zz",
  "k".repeat(201),
  "shared/x",
  "shared%2Fx",
])("the key %o is refused for writing", async (key) => {
  expect(await own("PUT", `memory/${key}`, { value: 1 })).toMatchObject({
    status: 400,
    body: { error: expect.any(String) as unknown },
  });
});

test("the key of a path to another store names nothing there", async () => {
  await own("PUT", "memory/hidden", { value: "secret" });
  await own("POST", "memory?action=share", { grantee: planner });
  expect(await theirs("GET", `memory/shared/${weather}/hidden`)).toMatchObject({ status: 404 });
  expect(await theirs("GET", `memory/hidden?store=${weather}`)).toMatchObject({ status: 200 });
  await own("DELETE", `memory?action=share&grantee=${planner}`);
});

test("a value: any JSON but nothing, at most 100 KiB", async () => {
  for (const value of [null, 0, false, "", [], { a: { b: [1] } }]) {
    expect(await own("PUT", "memory/v", { value })).toMatchObject({ status: 200 });
    expect(await own("GET", "memory/v")).toMatchObject({ body: { value } });
  }
  expect(await own("PUT", "memory/v", { ttl: 0 })).toMatchObject({ status: 400 });
  const large = { status: 413, body: { error: "Value too large" } };
  expect(await own("PUT", "memory/v", { value: "x".repeat(102_400) })).toMatchObject({ status: 200 });
  expect(await own("PUT", "memory/v", { value: "x".repeat(102_401) })).toEqual(large);
});

test.each([{ ttl: -1 }, { ttl: 0.5 }, { ttl: "60" }, { ttl: 1e300 }, { inContext: "false" }, { encrypted: 1 }])(
  "%o is refused",
  async (field) => {
    expect(await own("PUT", "memory/v", { value: 1, ...field })).toMatchObject({ status: 400 });
  },
);

test("an entry ends after its time to live", async () => {
  await own("PUT", "memory/short", { value: 1, ttl: 3_600 });
  const { body } = await own("GET", "memory/short");
  const { updated, expires } = body as { updated: string; expires: string };
  expect(Date.parse(expires) - Date.parse(updated)).toBe(3_600_000);
  await own("PUT", "memory/short", { value: 1 });
  expect(await own("GET", "memory/short")).toMatchObject({ body: { expires: null } });
});

test("the thousandth key is the last", async () => {
  const many = stage.as("many");
  await many("PUT", "memory/first", { value: 1 });
  const entries = join(stage.dataDir, "stores", storeIdOf("many"), "entries");
  for (let at = 2; at < 1_000; at++) writeFileSync(join(entries, `by-hand-${at}.md`), "written by a person");
  expect(await many("PUT", "memory/last", { value: 1 })).toMatchObject({ status: 200 });
  const full = { status: 429, body: { error: "Key limit reached for this store" } };
  expect(await many("PUT", "memory/one-more", { value: 1 })).toEqual(full);
  expect(await many("PUT", "memory/last", { value: 2 })).toMatchObject({ status: 200 });
});

describe("a listing", () => {
  test("has the keys below a prefix, which is a text and no pattern", async () => {
    const list = stage.as("lister");
    for (const key of ["a/b", "a/bc", "a%25", "A"]) await list("PUT", `memory/${key}`, { value: 1 });
    const keys = async (query: string): Promise<unknown> => {
      const { body } = await list("GET", `memory?inContext=true${query}`);
      return (body as { entries: { key: string }[] }).entries.map(({ key }) => key);
    };
    expect(await keys("")).toEqual(["A", "a%", "a/b", "a/bc"]);
    expect(await keys("&prefix=a")).toEqual(["a%", "a/b", "a/bc"]);
    expect(await keys("&prefix=a/b")).toEqual(["a/b", "a/bc"]);
    expect(await keys("&prefix=a/")).toEqual(["a/b", "a/bc"]);
    expect(await keys("&prefix=%25")).toEqual([]);
    expect(await keys("&prefix=_")).toEqual([]);
    expect(await keys("&prefix=")).toHaveLength(4);
    expect(await list("GET", "memory?inContext=false")).toMatchObject({ status: 400 });
    expect(await list("GET", "memory?prefix=../")).toMatchObject({ status: 400 });
  });
});

test("an unknown store and one that is another's are answered alike", async () => {
  await theirs("PUT", "memory/k", { value: 1 });
  for (const ask of [
    (store: string) => own("GET", `memory/k?store=${store}`),
    (store: string) => own("GET", `memory?store=${store}`),
    (store: string) => own("GET", `memory?action=search&q=x&store=${store}`),
    (store: string) => own("PUT", "memory/k", { value: 1, store }),
    (store: string) => own("DELETE", `memory/k?store=${store}`),
  ]) {
    expect([await ask(plannerStore), await ask(unknownStore)]).toEqual([denied, denied]);
  }
});
