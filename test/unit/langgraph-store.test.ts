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
  for (const asked of [store.search([]), store.listNamespaces(), store.listNamespaces({ prefix: ["*"] })])
    await expect(asked).rejects.toThrow("The namespace names no user");
});
