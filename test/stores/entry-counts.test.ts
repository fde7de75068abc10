/** A write does not list its store, and yet the limits hold: whatever people do to the files, and to the count of them. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { entryText, ids, openStoreStage } from "./store-stage.ts";
import type { StoreStage } from "./store-stage.ts";

const entriesMax = 1_000;
const alice = { userId: ids.alice };

/** Puts files there as a person does. */
function put(stage: StoreStage, count: number): void {
  for (let at = 0; at < count; at++) {
    stage.write(`${ids.alice}/entries/hand-${at}.md`, entryText(`hand-${at}.md`, ids.alice, "by hand"));
  }
}

const writeCounts = (stage: StoreStage, text: string): void =>
  stage.write(`${ids.alice}/entries/_.index/counts.json`, text);

const create = async (stage: StoreStage, key: string): Promise<string> => {
  const result = await stage.memory("alice", { command: "create", path: `/memories/${key}`, content: "x" });
  return result.ok ? "created" : result.error.code;
};

describe("a full store that a person has filled", () => {
  // The store has one entry of its own.
  test.for([
    ["no count", null],
    ["a count that is cut off", '{"models":{"counted":0'],
    [
      "a count below nothing",
      '{"models":{"counted":-5000,"added":0},"programs":{"counted":0,"added":0},"items":{"counted":0,"added":0}}',
    ],
    [
      "a count of a full store",
      '{"models":{"counted":1000,"added":0},"programs":{"counted":0,"added":0},"items":{"counted":0,"added":0}}',
    ],
  ] as const)("with %s has no more room", async ([, counts]) => {
    await using stage = await openStoreStage();
    put(stage, entriesMax - 1);
    if (counts !== null) writeCounts(stage, counts);
    expect(await create(stage, "b.md")).toBe("KEY_LIMIT_REACHED");
  });

  test("with a count that says nothing is there has room for a sixteenth", async () => {
    await using stage = await openStoreStage();
    for (let at = 0; at < entriesMax; at++) stage.write(`${ids.alice}/entries/_.in/hand-${at}.md`, "by hand");
    writeCounts(
      stage,
      '{"models":{"counted":0,"added":0},"programs":{"counted":0,"added":0},"items":{"counted":0,"added":0}}',
    );
    const set = (key: string): Promise<void> => stage.runtime.stores(alice).setInternal(null, key, "a value");
    for (let at = 0; at < 63; at++) await set(`new-${at}`);
    for (const key of ["one", "more"]) await expect(set(key)).rejects.toMatchObject({ code: "KEY_LIMIT_REACHED" });
    await set("new-7");
  });

  test("has room again for what a person or a tool removes, and no more", async () => {
    await using stage = await openStoreStage();
    put(stage, entriesMax - 1);
    expect(await create(stage, "a")).toBe("KEY_LIMIT_REACHED");
    rmSync(join(stage.dataDir, "stores", ids.alice, "entries/hand-7.md"));
    expect([await create(stage, "a"), await create(stage, "b")]).toEqual(["created", "KEY_LIMIT_REACHED"]);
    expect(await stage.memory("alice", { command: "delete", path: "/memories/hand-8.md" })).toMatchObject({ ok: true });
    expect([await create(stage, "b"), await create(stage, "c")]).toEqual(["created", "KEY_LIMIT_REACHED"]);
    expect(await create(stage, "b")).toBe("created");
    // What programs keep there counts apart.
    await stage.runtime.stores(alice).setInternal(null, "k", "a value");
  });
});

test("a store near its limit is not listed again for entries that come and go", async () => {
  await using stage = await openStoreStage();
  put(stage, entriesMax - 5);
  expect(await create(stage, "b")).toBe("created");
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
    expect(await create(stage, "b")).toBe("created");
  }
  expect(counted()).toBe(before);
});

test("the doctor takes the count for a part of the index", async () => {
  await using stage = await openStoreStage();
  expect(await create(stage, "b.md")).toBe("created");
  const folder = join(stage.dataDir, "stores", ids.alice, "entries/_.index");
  expect(readdirSync(folder).toSorted()).toEqual(["000001.txt", "counts.json"]);
  expect(await stage.runtime.upkeep.inspect(alice)).toEqual([]);
});

test("a search follows a person's edits, also after writes to the same index that list nothing", async () => {
  await using stage = await openStoreStage();
  for (const key of ["b.md", "c.md"]) await create(stage, key);
  const found = async (query: string): Promise<unknown> => {
    const result = await stage.memory("alice", { command: "search", query });
    return result.ok && (result.data as { results: { key: string }[] }).results.map(({ key }) => key);
  };
  stage.write(`${ids.alice}/entries/b.md`, entryText("b.md", ids.alice, "a kayak"));
  stage.write(`${ids.alice}/entries/d.md`, entryText("d.md", ids.alice, "a canoe"));
  rmSync(join(stage.dataDir, "stores", ids.alice, "entries/a.md"));
  for (const key of ["e.md", "f.md", "c.md"]) expect(await create(stage, key)).toBe("created");
  expect([await found("kayak"), await found("canoe"), await found("secret")]).toEqual([["b.md"], ["d.md"], []]);
  expect(await found("x")).toEqual(expect.arrayContaining(["c.md", "e.md", "f.md"]));
});
