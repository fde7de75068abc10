/** Items of programs stay in their user's store, whatever a guest asks for, a program names, or a person puts there. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { ask, expectDenied, ids, openStoreStage, scope } from "../stores/store-stage.ts";
import type { Name, StoreStage } from "../stores/store-stage.ts";

let stage: StoreStage;
const secret = "the secret item of alice";
const alicesItem = "_.items/plans/k_.md";
beforeAll(async () => {
  stage = await openStoreStage();
  await send(ids.alice, [{ op: "put", namespace: ["plans"], key: "k", value: secret }]);
});
afterAll(() => stage[Symbol.asyncDispose]());

const send = (userId: string, operations: unknown): Promise<ToolResult> =>
  stage.runtime.callAsHost("stores/StoreBatch", { operations }, { userId });

const entriesOf = (userId: string): string => join(stage.dataDir, "stores", userId, "entries");
const alices = (): string => readFileSync(join(entriesOf(ids.alice), alicesItem), "utf8");
const all = [{ op: "search", limit: 1_000 }, { op: "search", query: "secret item alice" }, { op: "namespaces" }];

let users = 0;
/** The id of a user whom nothing is shared with, and who has one item. */
async function newUser(): Promise<string> {
  const id = `90000000-0000-4000-8000-${String(users++).padStart(12, "0")}`;
  expect(await send(id, [{ op: "put", namespace: ["a"], key: "good", value: "own" }])).toMatchObject({ ok: true });
  return id;
}

test.for<[what: string, user: Name, capability: string, request: object]>([
  ["reads another's item", "stranger", "store_read", { scope: scope("alice"), path: alicesItem }],
  ["lists another's items", "stranger", "store_list", { scope: scope("alice"), prefix: "_.items/" }],
  ["overwrites another's", "stranger", "store_write", { scope: scope("alice"), path: alicesItem, content: "x" }],
  ["trashes another's", "stranger", "store_trash", { scope: scope("alice"), path: alicesItem }],
  ["reads another's with the level search", "searcher", "store_read", { scope: scope("alice"), path: alicesItem }],
  ...["../../..", ".", "a/./b", "a//b", "a\0", "a\nb", "a\\b", ".hidden", "ü"].map(
    (name): [string, Name, string, object] => [
      `writes below the name ${JSON.stringify(name)}`,
      "alice",
      "store_write",
      { scope: "store:self", path: `_.items/${name}/k_.md`, content: "x" },
    ],
  ),
])("a guest that %s is denied", async ([, user, capability, request]) => {
  const before = alices();
  expectDenied(await stage.play(user, [ask(capability, request)]));
  expect(alices()).toBe(before);
});

const names = [
  "..",
  ".",
  "../..",
  "/",
  "/etc/passwd",
  "a/b",
  "%2F",
  "\\",
  "\0",
  "\n",
  "\u202e",
  "\u{e0041}",
  "é",
  "trash",
  "Trash",
  ".memcell",
  "_.items",
  "_.index",
  "_.in",
  "_.by",
  `_.x${"0".repeat(64)}`,
  "x.md",
  "con",
  " ",
  "__proto__",
  "constructor",
  "toString",
  "*",
  "$bytes",
  `../../${ids.alice}/entries/_.items/plans`,
];

const itemAt = (namespace: readonly string[], key: string): object => ({ namespace, key });

test("the forms of Unicode of a namespace and a key are one item, also in a file by hand", async () => {
  const userId = await newUser();
  const [composed, other] = [
    ["é", "u"],
    ["e\u0301", "u"],
  ] as const;
  for (const [form, value] of [
    [other, 1],
    [composed, 2],
  ] as const) {
    expect(await send(userId, [{ op: "put", ...itemAt(form, form[0]), value }])).toMatchObject({ ok: true });
    for (const each of [composed, other]) {
      const found = await send(userId, [
        { op: "get", ...itemAt(each, each[0]) },
        { op: "search", namespace: each },
      ]);
      const kept = { namespace: composed, key: composed[0], value };
      expect(found).toMatchObject({ data: { results: [{ item: kept }, { items: [kept] }] } });
    }
  }
  const [file = ""] = execFileSync(
    "find",
    [join(stage.dataDir, "stores", userId), "-name", "*_.md", "!", "-name", "good*"],
    { encoding: "utf8" },
  ).split("\n");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("é", "e\u0301"));
  expect(await send(userId, [{ op: "get", ...itemAt(composed, "é") }])).toMatchObject({
    data: { results: [{ item: { key: "é", value: 2 } }] },
  });
});

test("names of any characters are only names", async () => {
  const userId = await newUser();
  const items = names.flatMap((name) => [
    { namespace: [name], key: "k", value: { [name]: 1 } },
    { namespace: ["a", name], key: name, value: { [name]: 2 } },
  ]);
  const puts = await send(
    userId,
    items.map((item) => Object.assign({ op: "put" }, item)),
  );
  expect(puts).toMatchObject({ ok: true });
  const gets = await send(
    userId,
    items.map(({ namespace, key }) => ({ op: "get", namespace, key })),
  );
  const found = (gets as { data?: { results: { item: object }[] } }).data?.results.map(({ item }) => item);
  expect(JSON.parse(JSON.stringify(found))).toMatchObject(JSON.parse(JSON.stringify(items)) as object);
  const [listed] = ((await send(userId, all)) as unknown as { data: { results: { items: object[] }[] } }).data.results;
  expect(listed?.items).toHaveLength(items.length + 1);
  const written = execFileSync("find", [join(stage.dataDir, "stores", userId), "-type", "f"], { encoding: "utf8" });
  const others = written
    .trimEnd()
    .split("\n")
    .filter((path) => !path.startsWith(`${entriesOf(userId)}/_.items/`));
  expect(others.filter((path) => !/\/(?:\.memcell\/.*|_\.index\/counts\.json)$/.test(path))).toEqual([]);
  expect(alices()).toContain(secret);
});

const put = (value: unknown, id: object = { namespace: ["a"], key: "new" }): object => ({ op: "put", ...id, value });
const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((value) => [value], "x");

test.for<[what: string, code: string, operations: (userId: string) => readonly object[]]>([
  ["a value over 100 KiB", "VALUE_TOO_LARGE", () => [put("x".repeat(102_401))]],
  ["a value that no answer could hold", "INPUT_INVALID", () => [put(nested(57))]],
  ["a value as deep as the input allows", "INPUT_INVALID", () => [put(nested(20_000))]],
  ["501 operations", "INPUT_INVALID", () => Array.from({ length: 501 }, () => put(1))],
  ["17 labels", "INPUT_INVALID", () => [put(1, { namespace: Array.from({ length: 17 }, () => "a"), key: "k" })]],
  ["a long label", "INPUT_INVALID", () => [put(1, { namespace: ["a".repeat(201)], key: "k" })]],
  ["a long key", "INPUT_INVALID", () => [put(1, { namespace: ["a"], key: "k".repeat(501) })]],
  ["a store", "INPUT_INVALID", () => [{ ...put(1), store: ids.alice }]],
  ["an owner", "INPUT_INVALID", () => [{ ...put(1), owner: ids.alice }]],
  ["a path", "INPUT_INVALID", () => [{ ...put(1), path: alicesItem }]],
  ["labels that are no list", "INPUT_INVALID", () => [put(1, { namespace: { 0: "a", length: 1 }, key: "k" })]],
])("a program's batch with %s changes nothing", async ([, code, operations]) => {
  const userId = await newUser();
  const result = await send(userId, [put("first", { namespace: ["a"], key: "first" }), ...operations(userId)]);
  expect(result).toMatchObject({ ok: false, error: { code } });
  expect(await send(userId, all)).toMatchObject({ data: { results: [{ items: [{ value: "own" }] }, {}, {}] } });
});

const front = (lines: string, value = secret): string => `---\n${lines}\n---\n${value}`;

test.for<[what: string, make: (path: string) => void]>([
  ["a link to another's folder", (path) => symlinkSync(join(entriesOf(ids.alice), "_.items"), path)],
  ["a file", (path) => writeFileSync(path, secret)],
])("%s in the place of a namespace's folder is skipped, and nothing behind it is listed", async ([, make]) => {
  const userId = await newUser();
  make(join(entriesOf(userId), "_.items/linked"));
  const search = { op: "search", namespace: ["linked"] };
  const result = await send(userId, [search, { op: "get", namespace: ["a"], key: "good" }]);
  expect(result).toMatchObject({ ok: true, data: { results: [{ items: [] }, { item: { value: "own" } }] } });
});

/** `null`: the file is an item, which has nothing of others. */
test.for<[what: string, make: (path: string) => void, reason: RegExp | null]>([
  ["a link to another's item", (path) => symlinkSync(join(entriesOf(ids.alice), alicesItem), path), /./],
  ["a hard link to another's item", (path) => linkSync(join(entriesOf(ids.alice), alicesItem), path), /./],
  ["a pipe", (path) => void execFileSync("mkfifo", [path]), /./],
  ["a folder", (path) => mkdirSync(path), /./],
  ["no UTF-8", (path) => writeFileSync(path, Buffer.from([0xc0, 0xff])), /./],
  ["zeros", (path) => writeFileSync(path, Buffer.alloc(100)), /./],
  ["another key", (path) => writeFileSync(path, front("key: other")), /another entry/],
  ["another namespace", (path) => writeFileSync(path, front("namespace: plans")), /another entry/],
  [
    "a value of 100 levels",
    (path) => writeFileSync(path, front("format: json", JSON.stringify(nested(100)))),
    /levels/,
  ],
  ["30,000 levels", (path) => writeFileSync(path, front("format: json", "[".repeat(30_000) + "]".repeat(30_000))), /./],
  ["no JSON", (path) => writeFileSync(path, front("format: json", "{")), /not JSON/],
  ["a key of the prototype", (path) => writeFileSync(path, front("format: json", '{"__proto__":{"a":1}}')), null],
])(
  "a file in the place of an item that is or has %s harms no other item, and nothing behind it",
  async ([, make, reason]) => {
    const userId = await newUser();
    const path = join(entriesOf(userId), "_.items/a/bad_.md");
    make(path);
    const id = { namespace: ["a"], key: "bad" };
    const seen = await send(userId, [{ op: "get", ...id }, { op: "get", namespace: ["a"], key: "good" }, ...all]);
    expect(JSON.stringify(seen)).not.toContain(secret);
    if (reason === null) {
      expect(seen).toMatchObject({ ok: true });
      expect(({} as { a?: unknown }).a).toBeUndefined();
      return;
    }
    const before = alices();
    const results = (seen as { data?: { results: { unreadable?: string; item?: unknown; items?: object[] }[] } }).data
      ?.results;
    expect({ seen, good: results?.[1] }).toMatchObject({ good: { item: { value: "own" } } });
    expect(results?.[0]?.item ?? null).toBeNull();
    expect(results?.[2]?.items).toMatchObject([{ key: "good" }]);
    await send(userId, [put("mine", id)]);
    expect(alices()).toBe(before);
  },
);

test("a folder that is a link to another's items is none", async () => {
  const userId = await newUser();
  const entries = entriesOf(userId);
  symlinkSync(join(entriesOf(ids.alice), "_.items/plans"), join(entries, "_.items/plans"));
  const linked = await send(userId, [{ op: "get", namespace: ["plans"], key: "k" }, ...all]);
  expect(JSON.stringify(linked)).not.toContain(secret);
  expect(await send(userId, [put(1, { namespace: ["plans"], key: "k" })])).toMatchObject({ ok: false });
  expect(alices()).toContain(secret);
});
