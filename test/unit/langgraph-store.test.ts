/** The store for LangGraph: what upstream's stores are tested for, and what a batch may be. */
import type { Operation } from "@langchain/langgraph-checkpoint";
import { createRuntime, memoryStore } from "memcell";
import { memcellStore } from "memcell/langgraph";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";

const stage = await openStage({ plugins: ["stores"], threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const storeOf = (userId = stage.user()): ReturnType<typeof memcellStore> => memcellStore(stage.runtime, { userId });

test("a put keeps when the item was made, and a deletion of what is not there is none", async () => {
  const store = storeOf();
  await store.put(["docs"], "a", { text: "one", nested: { list: [1, null, "x"] } });
  const first = await store.get(["docs"], "a");
  await store.put(["docs"], "a", { text: "two" });
  const second = await store.get(["docs"], "a");
  expect(first?.value).toEqual({ text: "one", nested: { list: [1, null, "x"] } });
  expect(second).toMatchObject({ namespace: ["docs"], key: "a", value: { text: "two" }, createdAt: first?.createdAt });
  expect(second?.updatedAt.getTime()).toBeGreaterThanOrEqual(first?.updatedAt.getTime() ?? Infinity);
  await store.delete(["docs"], "a");
  await store.delete(["docs"], "a");
  expect([await store.get(["docs"], "a"), await store.get(["none"], "a")]).toEqual([null, null]);
});

test("names with the wild cards of databases are only names", async () => {
  const store = storeOf();
  const labels = ["te_t", "test", "te%", "te*", "Te_t"];
  for (const label of labels) await store.put([label], "k", { label });
  for (const label of labels) expect((await store.search([label])).map(({ value }) => value["label"])).toEqual([label]);
  expect(await store.search(["te"])).toEqual([]);
});

test("no namespace reaches into another one, whatever its labels look like", async () => {
  const store = storeOf();
  const children = ["a", "ab", "A", "a-b", "a,b", "a) | @prefix{victim", "*", "te_", "__proto__"];
  const all = [...children.map((label) => ["tenant", label]), ["tenant", "a", "notes"], ["a", "tenant"]];
  await store.batch(
    all.map((namespace): Operation => ({ namespace, key: "same", value: { at: `ramen ${namespace.join()}` } })),
  );
  for (const namespace of all)
    for (const query of [undefined, "ramen"]) {
      const found = await store.search(namespace, { limit: 100, ...(query && { query }) });
      const below = all.filter((each) => namespace.every((label, at) => each[at] === label));
      expect(new Set(found.map((item) => item.namespace.join("|")))).toEqual(
        new Set(below.map((each) => each.join("|"))),
      );
      expect(found).toHaveLength(below.length);
    }
  await store.put(["tenant", "a"], "same", { at: "soup" });
  await store.delete(["tenant", "ab"], "same");
  const left = await store.search([], { query: "ramen", limit: 100 });
  expect(left.map(({ namespace }) => namespace.join())).not.toEqual(expect.arrayContaining(["tenant,a"]));
  expect(left).toHaveLength(all.length - 2);
});

test("LangGraph refuses namespaces that it reserves", async () => {
  for (const namespace of [[], [""], ["a", ""], ["a.b"], ["a:b"], ["langgraph", "x"], [1 as never]])
    await expect(storeOf().put(namespace, "k", {})).rejects.toMatchObject({ name: "InvalidNamespaceError" });
  await storeOf().put(["x", "langgraph"], "k", {});
});

test("a search returns ten items, or as many as are asked for", async () => {
  const store = storeOf();
  const puts = Array.from({ length: 120 }, (_, at): Operation => ({
    namespace: ["n", `c${at}`],
    key: "k",
    value: { at },
  }));
  await store.batch(puts);
  expect(await store.search(["n"])).toHaveLength(10);
  const pages = await Promise.all([0, 50, 100].map((offset) => store.search(["n"], { limit: 50, offset })));
  expect(pages.map((page) => page.length)).toEqual([50, 50, 20]);
  expect(new Set(pages.flat().map(({ value }) => value["at"]))).toEqual(new Set(puts.keys()));
});

const levels = (count: number): unknown => (count === 0 ? "x" : [levels(count - 1)]);

test("a value comes back as it was, bytes too", async () => {
  const store = storeOf();
  const values = [
    { text: "emoji 🎉, äöü, \u0000", list: [1, -0.5, "four", [5, null]], flag: true, deep: { "a.b": { c: [{}] } } },
    { items: Array.from({ length: 1_000 }, (_, id) => ({ id, data: `item-${id}`, nested: { value: id * 2 } })) },
    { bytes: new Uint8Array([0, 255]), $bytes: "AP8=", $$bytes: 1, left: undefined },
    JSON.parse('{"__proto__":{"a":1},"constructor":2}') as Record<string, unknown>,
    { levels: levels(55) },
  ];
  for (const value of values) {
    await store.put(["n"], "k", value);
    expect((await store.get(["n"], "k"))?.value).toEqual(value);
    expect((await store.search(["n"]))[0]?.value).toEqual(value);
  }
});

test.for<[place: string, value: unknown, message: string]>([
  ["value", { at: new Date(0) }, "value.at is of the type Date; expected JSON or bytes, at most 56 levels deep"],
  ["value", { list: [1, Number.NaN] }, "value.list[1] is NaN; expected"],
  ["value", { list: [undefined] }, "value.list[0] is of the type Undefined"],
  ["value", { call: () => 1 }, "value.call is of the type Function"],
  ["value", { big: 1n }, "value.big is of the type BigInt"],
  ["value", { users: new Map() }, "value.users is of the type Map"],
  ["value", { error: new Error("x") }, "value.error is of the type Error"],
  ["value", { [Symbol("x")]: 1 }, "value is of the type Object"],
  ["value", undefined, "value is of the type Undefined"],
  ["value", { levels: levels(56) }, "at most 56 levels deep"],
  ["filter", { at: { $gte: new Date(0) } }, "filter.at.$gte is of the type Date"],
  ["filter", { owner: undefined }, "owner in filter is of the type Undefined; expected JSON"],
  ["filter", { owner: { $eq: undefined } }, "$eq in filter is of the type Undefined; expected JSON"],
])("what would come back as something else is refused, with its place: %s %o", async ([place, given, message]) => {
  const store = storeOf();
  const operation =
    place === "value" ? { namespace: ["n"], key: "k", value: given } : { namespacePrefix: [], filter: given };
  const sent = store.batch([{ namespace: ["n"], key: "first", value: {} }, operation as Operation]);
  await expect(sent).rejects.toMatchObject({
    message: expect.stringContaining(message),
    cause: { code: "INPUT_INVALID", message: expect.stringContaining(message) },
  });
  expect(await store.search([])).toEqual([]);
});

test("namespaces are listed by prefix, suffix, depth and page", async () => {
  const store = storeOf();
  const all = ["a b c", "a b d", "a x c", "b b c"].map((labels) => labels.split(" "));
  for (const labels of all) await store.put(labels, "k", {});
  const shown = async (options: Parameters<typeof store.listNamespaces>[0]): Promise<string> =>
    (await store.listNamespaces(options)).map((labels) => labels.join("")).join(" ");
  expect(await shown({ prefix: ["a", "b"] })).toBe("abc abd");
  expect(await shown({ prefix: ["*", "b"], suffix: ["c"] })).toBe("abc bbc");
  expect(await shown({ suffix: ["*", "c"], limit: 2, offset: 1 })).toBe("axc bbc");
  expect(await shown({ maxDepth: 1 })).toBe("a b");
});

test("a query ranks, with scores, also below a namespace and a filter", async () => {
  const store = storeOf();
  await store.put(["m", "food"], "ramen", { text: "likes ramen, and ramen again", kind: "like" });
  await store.put(["m", "food"], "soup", { text: "dislikes soup with ramen", kind: "dislike" });
  await store.put(["m", "work"], "job", { text: "a baker", kind: "fact" });
  const found = await store.search(["m"], { query: "ramen" });
  expect(found.map(({ key }) => key)).toEqual(["ramen", "soup"]);
  expect(found[0]?.score).toBeGreaterThan(found[1]?.score ?? Infinity);
  expect(await store.search(["m"], { query: "ramen", filter: { kind: "dislike" } })).toMatchObject([{ key: "soup" }]);
  expect(await store.search(["m", "work"], { query: "ramen" })).toEqual([]);
  await store.put(["m", "food"], "soup", { text: "likes stew" });
  expect(await store.search(["m"], { query: "dislikes" })).toEqual([]);
  expect(await store.search(["m"], { query: "stew" })).toMatchObject([{ key: "soup" }]);
});

const put = (key: string, value: unknown): Operation => ({ namespace: ["n"], key, value }) as Operation;

test("a batch is one change, and a failure of one operation leaves all undone", async () => {
  const userId = stage.user();
  const store = storeOf(userId);
  await store.batch(Array.from({ length: 50 }, (_, at) => put(`k${at}`, { at })));
  const versions = await stage.runtime.upkeep.history({ userId });
  expect(new Set(versions.map(({ seq }) => seq)).size).toBe(1);
  const failed = store.batch([put("k0", { at: -1 }), put("large", { text: "x".repeat(102_400) })]);
  await expect(failed).rejects.toMatchObject({ message: "Value too large", cause: { code: "VALUE_TOO_LARGE" } });
  expect(await store.get(["n"], "k0")).toMatchObject({ value: { at: 0 } });
});

test("what no call and no answer can hold is sent in several, and reads still see what was there before", async () => {
  const store = storeOf();
  const large = "x".repeat(90_000);
  const keys = Array.from({ length: 12 }, (_, at) => `k${String(at).padStart(2, "0")}`);
  const puts = keys.map((key): Operation => ({ namespace: ["n"], key, value: { key, large } }));
  await store.batch(puts);
  const reads: Operation[] = [
    { namespacePrefix: ["n"], limit: 7, offset: 3 },
    ...keys.map((key): Operation => ({ namespace: ["n"], key })),
  ];
  const changes = keys.map((key): Operation => ({ namespace: ["n"], key, value: null }));
  const [found, ...got] = (await store.batch([...changes.slice(0, 1), ...reads, ...changes.slice(1)])).slice(
    1,
  ) as unknown[];
  expect((found as { key: string }[]).map(({ key }) => key)).toEqual(keys.slice(3, 10));
  expect(got.slice(0, 12).map((item) => (item as { key: string } | null)?.key)).toEqual(keys);
  expect(await store.search(["n"])).toEqual([]);
});

test("a write that is not trusted waits, and what is missing is said at once", async () => {
  const runtime = stage.runtime;
  const store = memcellStore(runtime, { userId: stage.user(), exposedTo: ["tool_external"] as const });
  await expect(store.put(["n"], "k", { text: "from a page" })).rejects.toMatchObject({
    cause: { code: "WRITE_PENDING" },
  });
  const conditions = ["a", "b"].map((label) => ({ matchType: "prefix" as const, path: [label] as never }));
  const twice = storeOf().batch([{ matchConditions: conditions, limit: 1, offset: 0 }]);
  await expect(twice).rejects.toThrow("matchConditions has 2 of prefix; expected at most one");
  await using other = await createRuntime({ store: memoryStore(), plugins: ["user-memory"] });
  expect(() => memcellStore(other, { userId: "alice" })).toThrow('the plugin "stores" is not loaded');
});

test("a store for many users asks whose each namespace is", async () => {
  const [ann, ben] = [stage.user(), stage.user()];
  const users: Readonly<Record<string, string>> = { ann, ben };
  const store = memcellStore(stage.runtime, (label) => {
    const userId = users[label];
    if (userId === undefined) throw new Error(`${label} is no user`);
    return { userId };
  });
  await store.batch(["ann", "ben"].map((user): Operation => ({ namespace: [user], key: "k", value: { user } })));
  expect(await storeOf(ann).search([])).toMatchObject([{ namespace: ["ann"], value: { user: "ann" } }]);
  expect(await storeOf(ben).search([])).toMatchObject([{ namespace: ["ben"] }]);
  const eve = store.batch([
    { namespace: ["ann"], key: "k", value: null },
    { namespace: ["eve"], key: "k" },
  ]);
  await expect(eve).rejects.toThrow("eve is no user");
  expect(await store.get(["ann"], "k")).not.toBeNull();
  // Each user's part is all or nothing, in the order of the users.
  const large: Operation = { namespace: ["ben"], key: "l", value: { text: "x".repeat(102_400) } };
  const parts = (["ben", "ann", "zoe"] as const).map((user): Operation => ({ namespace: [user], key: "m", value: {} }));
  await expect(store.batch([...parts.slice(0, 2), large])).rejects.toThrow("Value too large");
  expect([await store.get(["ben"], "m"), await store.get(["ann"], "m")]).toEqual([null, null]);
  await expect(store.batch([...parts.slice(1, 2), large])).rejects.toThrow("Value too large");
  expect(await store.get(["ann"], "m")).not.toBeNull();
  await expect(store.batch(parts)).rejects.toThrow("zoe is no user");
  expect(await store.get(["ben"], "m")).toBeNull();
  for (const asked of [store.search([]), store.listNamespaces(), store.listNamespaces({ prefix: ["*"] })])
    await expect(asked).rejects.toThrow("The namespace names no user");
});
