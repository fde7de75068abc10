/** Items of programs: many operations in one call, all of a batch's changes or none, and no end that is not told. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

type Operation = Readonly<Record<string, unknown>>;

interface Item {
  readonly namespace: string[];
  readonly key: string;
  readonly value: unknown;
  readonly score?: number;
}

interface Result {
  readonly item?: Item | null;
  readonly items?: Item[];
  readonly namespaces?: string[][];
  readonly next?: { readonly after?: string; readonly offset: number };
  readonly unreadable?: number | string;
  readonly left?: true;
  readonly leftOut?: number;
}

const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir, plugins: ["stores"], threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const send = (userId: string, operations: unknown): Promise<ToolResult> =>
  runtime.callAsHost("stores/StoreBatch", { operations }, { userId });

async function batch(userId: string, operations: readonly Operation[]): Promise<Result[]> {
  const result = await runtime.callAsHost("stores/StoreBatch", { operations }, { userId });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return (result.data as { results: Result[] }).results;
}

const placeOf = (userId: string, path: string): string => join(dataDir, "stores", storeIdOf(userId), "entries", path);

function byHand(userId: string, path: string, text: string | Buffer): void {
  mkdirSync(dirname(placeOf(userId, path)), { recursive: true });
  writeFileSync(placeOf(userId, path), text);
}

const put = (namespace: string[], key: string, value: unknown): Operation => ({
  op: "put",
  namespace,
  key,
  value,
});
const keysIn = (result: Result | undefined): string[] => (result?.items ?? []).map(({ key }) => key);

describe("a batch", () => {
  test("reads what was there before it, and the last change of an item counts", async () => {
    await batch("ann", [put(["a"], "k", { n: 1 })]);
    const results = await batch("ann", [
      put(["a"], "k", { n: 2 }),
      { op: "get", namespace: ["a"], key: "k" },
      put(["a"], "k", { n: 3 }),
      put(["a"], "gone", 1),
      { op: "search", namespace: ["a"] },
      { op: "delete", namespace: ["a"], key: "gone" },
      { op: "namespaces" },
    ]);
    expect(results).toMatchObject([
      { changed: false },
      { item: { key: "k", value: { n: 1 } } },
      { changed: true },
      { changed: false },
      { items: [{ value: { n: 1 } }] },
      { changed: false },
      { namespaces: [["a"]] },
    ]);
    expect(await batch("ann", [{ op: "search" }])).toMatchObject([{ items: [{ namespace: ["a"], value: { n: 3 } }] }]);
  });

  test("changes everything or nothing, in one version", async () => {
    const large = "x".repeat(102_401);
    expect(await send("ben", [put(["a"], "k", 1), put(["a"], "l", large)])).toMatchObject({
      ok: false,
      error: { code: "VALUE_TOO_LARGE" },
    });
    expect(await batch("ben", [{ op: "search" }])).toEqual([{ items: [] }]);
    await batch(
      "ben",
      Array.from({ length: 40 }, (_, at) => put(["a"], `k${at}`, at)),
    );
    const versions = await runtime.upkeep.history({ userId: "ben" });
    // One for each file, and for the count of them.
    expect(versions).toHaveLength(41);
    expect(new Set(versions.map(({ seq }) => seq)).size).toBe(1);
  });

  test("keeps names of any characters apart, and long ones", async () => {
    const odd = ["a/b", "a%2Fb", "%", "..", ".md", "x.md", "trash", "con", "Ü", "a b", "*", "y".repeat(200), "_.x"];
    const names = odd.flatMap((label) => odd.map((key) => ({ namespace: [label, key], key })));
    await batch(
      "cleo",
      names.map(({ namespace, key }) => put(namespace, key, [namespace, key])),
    );
    const got = await batch(
      "cleo",
      names.map(({ namespace, key }) => ({ op: "get" as const, namespace, key })),
    );
    expect(got.map(({ item }) => item)).toMatchObject(
      names.map(({ namespace, key }) => ({ namespace, key, value: [namespace, key] })),
    );
    const [found, listed] = await batch("cleo", [
      { op: "search", namespace: ["y".repeat(200)], limit: 1_000 },
      { op: "namespaces", limit: 1_000 },
    ]);
    expect(found?.items).toHaveLength(odd.length);
    expect(new Set(listed?.namespaces?.map(String))).toEqual(new Set(names.map(({ namespace }) => String(namespace))));
    expect(await runtime.upkeep.inspect({ userId: "cleo" })).toEqual([]);
  });
});

test("a search goes on where an answer had no room, and finds each item once", async () => {
  const values = Array.from({ length: 20 }, (_, at) => ({ at, text: `${at} ${"x".repeat(90_000)}` }));
  for (const value of values) await batch("dan", [put(["big"], `k${String(value.at).padStart(2, "0")}`, value)]);
  const found: unknown[] = [];
  let next: { after?: string; offset?: number } | undefined = { offset: 3 };
  let answers = 0;
  while (next !== undefined) {
    const [result]: Result[] = await batch("dan", [{ op: "search", namespace: ["big"], limit: 100, ...next }]);
    found.push(...(result?.items ?? []).map(({ value }) => (value as { at: number }).at));
    next = result?.next;
    answers++;
  }
  expect(found).toEqual(values.slice(3).map(({ at }) => at));
  expect(answers).toBeGreaterThan(3);
  // Reads that do not fit beside changes are refused, and nothing has changed.
  const refused = await send("dan", [{ op: "search", namespace: ["big"], limit: 100 }, put(["big"], "k00", 0)]);
  expect(refused).toMatchObject({ ok: false, error: { code: "BATCH_TOO_LARGE" } });
  const gets = values.map((_, at) => ({
    op: "get" as const,
    namespace: ["big"],
    key: `k${String(at).padStart(2, "0")}`,
  }));
  const got = await batch("dan", gets);
  expect(got[0]).toMatchObject({ item: { value: { at: 0 } } });
  expect(got.at(-1)).toEqual({ left: true });
});

test("the work of a batch is bounded by what its operations go through, and each one comes to its end", async () => {
  await batch("joe", [put(["n"], "k", "first")]);
  for (let at = 0; at < 1_200; at++) byHand("joe", `_.items/n${at}/k_.md`, "a kayak");
  const reads = Array.from({ length: 496 }, (_, at) =>
    at % 2 === 0 ? { op: "namespaces", ends: ["none"] } : { op: "search", after: "~" },
  );
  const results = await batch("joe", [
    ...reads,
    ...Array.from({ length: 4 }, () => ({ op: "search", query: "kayak" })),
  ]);
  const done = results.findIndex(({ left }) => left === true);
  expect(done).toBeGreaterThan(100);
  expect(results.slice(0, done)).toEqual(
    reads.slice(0, done).map(({ op }) => ({ [op === "search" ? "items" : op]: [] })),
  );
  expect(results.slice(done).every(({ left }) => left === true)).toBe(true);
  // A query that could not look into all items is for another call, unless no call could.
  const queries = await batch(
    "joe",
    Array.from({ length: 6 }, () => ({ op: "search", query: "kayak", limit: 1 })),
  );
  expect(queries.map(({ items, left, leftOut }) => [items?.length, left, leftOut])).toEqual([
    ...Array.from({ length: 4 }, () => [1, undefined, undefined]),
    ...Array.from({ length: 2 }, () => [undefined, true, undefined]),
  ]);
});

test("a search filters by fields, and ranks by words", async () => {
  const people = {
    a: { age: 7, city: "Rome" },
    b: { age: 30, city: "Oslo" },
    c: { city: "Rome", tags: ["x"] },
    d: "Rome",
  };
  await batch(
    "eve",
    Object.entries(people).map(([key, value]) => put(["people"], key, value)),
  );
  const keys = async (filter: Record<string, unknown>): Promise<string> => {
    const [result] = await batch("eve", [{ op: "search", filter }]);
    return keysIn(result).join("");
  };
  const rows: [Record<string, unknown>, string][] = [
    [{ city: "Rome" }, "ac"],
    [{ city: "Rome", age: { $gte: 7, $lt: 8 } }, "a"],
    [{ age: { $ne: 7 } }, "bcd"],
    [{ city: { $in: ["Oslo", "Paris"] } }, "b"],
    [{ city: { $nin: ["Oslo"] } }, "acd"],
    [{ city: { $gt: "P" } }, "ac"],
    [{ tags: ["x"] }, "c"],
    [{ constructor: { $ne: "x" } }, "abcd"],
    [{ age: {} }, "abcd"],
  ];
  for (const [filter, expected] of rows) expect([filter, await keys(filter)]).toEqual([filter, expected]);
  const [ranked, second, none] = await batch("eve", [
    { op: "search", query: "rome" },
    { op: "search", query: "rome", limit: 1, offset: 1 },
    { op: "search", query: "rome", filter: { age: 30 } },
  ]);
  expect(keysIn(ranked).toSorted()).toEqual(["a", "c", "d"]);
  expect(keysIn(second)).toEqual([keysIn(ranked)[1]]);
  const scores = (ranked?.items ?? []).map(({ score = 0 }) => score);
  expect(scores.every((score, at) => score > 0 && score <= (scores[at - 1] ?? score))).toBe(true);
  expect(none).toEqual({ items: [] });
});

test("a person's hand counts, and what cannot be read is told and kept", async () => {
  await batch("fay", [put(["a"], "k", { n: 1 }), put(["a"], "l", { n: 2 })]);
  const file = readFileSync(placeOf("fay", "_.items/a/k_.md"), "utf8");
  byHand("fay", "_.items/a/k_.md", file.replace('{"n":1}', '{"n":7}'));
  byHand("fay", "_.items/a/new_.md", "a plain text");
  byHand("fay", "_.items/a/l_.md", "---\nkey: l\n---\n---");
  byHand("fay", "_.items/a/bad_.md", "---\nkey: other\n---\nx");
  const [k, fresh, bad, all] = await batch("fay", [
    { op: "get", namespace: ["a"], key: "k" },
    { op: "get", namespace: ["a"], key: "new" },
    { op: "get", namespace: ["a"], key: "bad" },
    { op: "search", namespace: ["a"] },
  ]);
  expect([k?.item?.value, fresh?.item?.value]).toEqual([{ n: 7 }, "a plain text"]);
  expect(bad).toEqual({ unreadable: "its front matter names another entry than its path" });
  expect([keysIn(all), all?.unreadable]).toEqual([["k", "l", "new"], 1]);
  for (const change of [put(["a"], "bad", 1), { op: "delete", namespace: ["a"], key: "bad" }])
    expect(await send("fay", [change])).toMatchObject({ error: { code: "ENTRY_UNREADABLE" } });
  expect(await runtime.upkeep.inspect({ userId: "fay" })).toMatchObject([
    { path: "store/_.items/a/bad_.md", problem: "entry-unreadable" },
  ]);
});

test("no model, no note and no other user has the items, and an export takes them along", async () => {
  await batch("gus", [put(["secrets"], "k", "the word is kayak")]);
  const ctx = { userId: "gus" };
  const look = (input: object): Promise<ToolResult> => runtime.callAsHost("stores/memory", input, ctx);
  expect(await look({ command: "view", path: "/memories/" })).toMatchObject({ data: { entries: [] } });
  expect(await look({ command: "search", query: "kayak" })).toMatchObject({ data: { results: [] } });
  expect(await look({ command: "view", path: "/memories/_.items/secrets/k" })).toMatchObject({ data: { entries: [] } });
  expect(await runtime.memoryIndex(ctx)).not.toContain("secrets");
  expect(await runtime.callAsHost("stores/CallerNotes", { command: "search", query: "kayak" }, ctx)).toMatchObject({
    data: { notes: [] },
  });
  expect(await batch("hal", [{ op: "search" }, { op: "namespaces" }])).toEqual([{ items: [] }, { namespaces: [] }]);
  const { files } = await runtime.upkeep.export(ctx);
  const wanted = files.filter(({ path }) => !path.startsWith("_.index/"));
  await runtime.upkeep.import({ userId: "ivy" }, wanted);
  expect(await batch("ivy", [{ op: "search" }])).toMatchObject([{ items: [{ key: "k", value: "the word is kayak" }] }]);
  expect(await runtime.upkeep.inspect({ userId: "ivy" })).toEqual([]);
});

test.for<[name: string, operations: unknown, message: RegExp]>([
  ["no list", {}, /operations/],
  ["no object", [1], /^operations\[0\] is "1"; expected an object/],
  [
    "an unknown operation",
    [{ op: "drop" }],
    /operations\[0\]\.op is "drop"; expected get, put, delete, search, namespaces/,
  ],
  [
    "an unknown field",
    [{ op: "get", namespace: ["a"], key: "k", ttl: 1 }],
    /is "ttl"; expected no other fields than op, /,
  ],
  ["no namespace", [put([], "k", 1)], /namespace is "\[\]"; expected a list of 1 to 16 labels/],
  ["an empty label", [put(["a", ""], "k", 1)], /expected a list of 1 to 16 labels/],
  ["a lone surrogate", [put(["a"], "\ud800", 1)], /./],
  ["no value", [{ op: "put", namespace: ["a"], key: "k" }], /value is "nothing"; expected any JSON value/],
  [
    "an unknown condition",
    [{ op: "search", filter: { a: { $regex: "x" } } }],
    /\$regex"; expected a value, or conditions/,
  ],
  ["a limit below nothing", [{ op: "search", limit: -1 }], /limit is "-1"; expected a whole number/],
  ["too many", Array.from({ length: 501 }, () => ({ op: "search" })), /expected a list of at most 500/],
])("operations that make no sense are refused: %s", async ([, operations, message]) => {
  const result = await send("kim", operations);
  expect(result).toMatchObject({
    ok: false,
    error: { code: "INPUT_INVALID", message: expect.stringMatching(message) },
  });
  expect(existsSync(placeOf("kim", "_.items"))).toBe(false);
});
