/** A write does not list its store, and yet the limits hold: whatever people do to the files, and to the count of them. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { entryText, ids, openStoreStage } from "./store-stage.ts";
import type { Name, StoreStage } from "./store-stage.ts";

const entriesMax = 1_000;

/** Each test has a user of its own. */
let stage: StoreStage;
beforeAll(async () => {
  stage = await openStoreStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Makes a store with one entry of the user's own, and puts more there as a person does. */
function put(user: Name, count: number): void {
  stage.write(`${ids[user]}/.memcell/owner`, `stores/${ids[user]}`);
  for (const key of ["a.md", ...Array.from({ length: count }, (_, at) => `hand-${at}.md`)])
    stage.write(`${ids[user]}/entries/${key}`, entryText(key, ids[user], "by hand"));
}

const set = (user: Name, key: string): Promise<void> =>
  stage.runtime.stores({ userId: ids[user] }).setInternal(null, key, "a value");

const writeCounts = (user: Name, text: string): void => stage.write(`${ids[user]}/entries/_.index/counts.json`, text);

const create = async (user: Name, key: string, on = stage): Promise<string> => {
  const result = await on.memory(user, { command: "create", path: `/memories/${key}`, content: "x" });
  return result.ok ? "created" : result.error.code;
};

describe("a full store that a person has filled", () => {
  test.for([
    ["no count", "searcher", null],
    ["a count that is cut off", "reader", '{"models":{"counted":0'],
    [
      "a count below nothing",
      "writer",
      '{"models":{"counted":-5000,"added":0},"programs":{"counted":0,"added":0},"items":{"counted":0,"added":0}}',
    ],
    [
      "a count of a full store",
      "chat",
      '{"models":{"counted":1000,"added":0},"programs":{"counted":0,"added":0},"items":{"counted":0,"added":0}}',
    ],
  ] as const)("with %s has no more room", async ([, user, counts]) => {
    put(user, entriesMax - 1);
    if (counts !== null) writeCounts(user, counts);
    expect(await create(user, "b.md")).toBe("KEY_LIMIT_REACHED");
  });

  test("with a count that says nothing is there has room for a sixteenth", async () => {
    for (let at = 0; at < entriesMax; at++) stage.write(`${ids.stranger}/entries/_.in/hand-${at}.md`, "by hand");
    writeCounts(
      "stranger",
      '{"models":{"counted":0,"added":0},"programs":{"counted":0,"added":0},"items":{"counted":0,"added":0}}',
    );
    for (let at = 0; at < 63; at++) await set("stranger", `new-${at}`);
    for (const key of ["one", "more"])
      await expect(set("stranger", key)).rejects.toMatchObject({ code: "KEY_LIMIT_REACHED" });
    await set("stranger", "new-7");
  });

  test("has room again for what a person or a tool removes, and no more", async () => {
    put("unknown", entriesMax - 1);
    expect(await create("unknown", "a")).toBe("KEY_LIMIT_REACHED");
    rmSync(join(stage.dataDir, "stores", ids.unknown, "entries/hand-7.md"));
    expect([await create("unknown", "a"), await create("unknown", "b")]).toEqual(["created", "KEY_LIMIT_REACHED"]);
    expect(await stage.memory("unknown", { command: "delete", path: "/memories/hand-8.md" })).toMatchObject({
      ok: true,
    });
    expect([await create("unknown", "b"), await create("unknown", "c")]).toEqual(["created", "KEY_LIMIT_REACHED"]);
    expect(await create("unknown", "b")).toBe("created");
    const rename = { command: "rename", path: "/memories/b", new_str: "/memories/c" };
    expect(await stage.memory("unknown", rename)).toMatchObject({ ok: true });
    // What programs keep there counts apart.
    await stage.runtime.stores({ userId: ids.unknown }).setInternal(null, "k", "a value");
  });
});

test("a store near its limit is not listed again for entries that come and go", async () => {
  put("alice", entriesMax - 5);
  expect(await create("alice", "b")).toBe("created");
  const counted = (): unknown => {
    const text = readFileSync(join(stage.dataDir, "stores", ids.alice, "entries/_.index/counts.json"), "utf8");
    const { models } = JSON.parse(text) as { models: { counted: number; added: number } };
    return models.counted + models.added;
  };
  const before = counted();
  // A count of the files would find this one.
  stage.write(`${ids.alice}/entries/late.md`, entryText("late.md", ids.alice, "by hand"));
  for (let at = 0; at < 10; at++) {
    expect(await stage.memory("alice", { command: "delete", path: "/memories/b" })).toMatchObject({ ok: true });
    expect(await create("alice", "b")).toBe("created");
  }
  expect(counted()).toBe(before);
});

test("the doctor takes the count for a part of the index", async () => {
  await using own = await openStoreStage();
  expect(await create("alice", "b.md", own)).toBe("created");
  const folder = join(own.dataDir, "stores", ids.alice, "entries/_.index");
  expect(readdirSync(folder).toSorted()).toEqual(["000001.txt", "counts.json"]);
  expect(await own.runtime.upkeep.inspect({ userId: ids.alice })).toEqual([]);
});

test("a search follows a person's edits, also after writes to the same index that list nothing", async () => {
  await using own = await openStoreStage();
  for (const key of ["b.md", "c.md"]) await create("alice", key, own);
  const found = async (query: string): Promise<unknown> => {
    const result = await own.memory("alice", { command: "search", query });
    return result.ok && (result.data as { results: { key: string }[] }).results.map(({ key }) => key);
  };
  own.write(`${ids.alice}/entries/b.md`, entryText("b.md", ids.alice, "a kayak"));
  own.write(`${ids.alice}/entries/d.md`, entryText("d.md", ids.alice, "a canoe"));
  rmSync(join(own.dataDir, "stores", ids.alice, "entries/a.md"));
  for (const key of ["e.md", "f.md", "c.md"]) expect(await create("alice", key, own)).toBe("created");
  expect([await found("kayak"), await found("canoe"), await found("secret")]).toEqual([["b.md"], ["d.md"], []]);
  expect(await found("x")).toEqual(expect.arrayContaining(["c.md", "e.md", "f.md"]));
});
