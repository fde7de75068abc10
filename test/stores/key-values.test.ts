/** `memcell/stores`: values of a program under keys, also those that earlier versions have stored in sight of models. */
import type { UserStores } from "memcell";
import { kvDelete, kvGet, kvSet } from "memcell/stores";
import { afterAll, beforeAll, expect, test } from "vitest";

import { entryText, ids, nowMs, openStoreStage } from "./store-stage.ts";
import type { Name, StoreStage } from "./store-stage.ts";

let stage: StoreStage;
let laterMs = 0;
beforeAll(async () => {
  stage = await openStoreStage({ clock: () => nowMs + laterMs });
});
afterAll(() => stage[Symbol.asyncDispose]());

const of = (user: Name): UserStores => stage.runtime.stores({ userId: ids[user] });
const app = { namespace: "app" };

test("a value comes back for its user, namespace and key alone, until it ends", async () => {
  const value = { tabs: [1, null], name: "é" };
  await kvSet(of("writer"), "ui", value, { ...app, ttl: 60 });
  expect(await kvGet(of("writer"), "ui", app)).toEqual(value);
  for (const other of [
    kvGet(of("writer"), "ui"),
    kvGet(of("writer"), "ui", { namespace: "other" }),
    kvGet(of("writer"), "UI", app),
    kvGet(of("alice"), "ui", app),
  ])
    expect(await other).toBeNull();
  laterMs += 60_000;
  expect(await kvGet(of("writer"), "ui", app)).toBeNull();
});

test("a deleted value is gone at once, once, and only the doctor has still to move its file", async () => {
  const stores = of("reader");
  await kvSet(stores, "a", 1, app);
  await kvSet(stores, "a", 2);
  expect([await kvDelete(stores, "a", app), await kvDelete(stores, "a", app)]).toEqual([true, false]);
  expect([await kvGet(stores, "a", app), await kvGet(stores, "a")]).toEqual([null, 2]);
  laterMs += 1_000;
  expect(await stage.runtime.upkeep.mend({ userId: ids.reader })).toMatchObject([{ problem: "entry-expired" }]);
  expect(Object.keys(stage.entries("reader")).filter((path) => !path.startsWith("trash/"))).toEqual(["_.in/a_.md"]);
});

test("what kv_set has stored is read, leaves the sight of models when it is set, and can be deleted", async () => {
  const seen = entryText("plan", ids.chat, "v1");
  stage.write(`${ids.chat}/.memcell/owner`, `stores/${ids.chat}`);
  stage.write(`${ids.chat}/entries/plan_.md`, seen);
  stage.write(
    `${ids.chat}/entries/_.ns/app/k_.md`,
    entryText("k", ids.chat, "v2").replace("\nin_", "\nnamespace: app\nin_"),
  );
  const stores = of("chat");
  expect([await kvGet(stores, "plan"), await kvGet(stores, "k", app)]).toEqual(["v1", "v2"]);
  await kvSet(stores, "plan", "v3");
  expect(await kvGet(stores, "plan")).toBe("v3");
  expect(await stage.memory("chat", { command: "view", path: "/memories/plan" })).toMatchObject({
    data: { entries: [] },
  });
  expect(await stage.memory("chat", { command: "search", query: "v3" })).toMatchObject({ data: { results: [] } });
  expect(await stage.runtime.memoryIndex({ userId: ids.chat })).not.toContain("plan");
  expect(await kvDelete(stores, "k", app)).toBe(true);
  expect(await kvGet(stores, "k", app)).toBeNull();
  const trashed = Object.entries(stage.entries("chat")).filter(([path]) => path.startsWith("trash/"));
  expect(trashed.map(([, text]) => text.slice(-2)).toSorted()).toEqual(["v1", "v2"]);
});

test("deleted values do not count among those of the store", async () => {
  const stores = of("unknown");
  for (let number = 0; number < 1_000; number++) stage.write(`${ids.unknown}/entries/_.in/k${number}_.md`, "by hand");
  await expect(kvSet(stores, "one more", 1)).rejects.toMatchObject({ code: "KEY_LIMIT_REACHED" });
  expect(await kvDelete(stores, "k7")).toBe(true);
  laterMs += 1_000;
  await kvSet(stores, "one more", 1);
  await expect(kvSet(stores, "another", 1)).rejects.toMatchObject({ code: "KEY_LIMIT_REACHED" });
});

test("rejects what getInternal and setInternal reject", async () => {
  const rejected = { code: "INPUT_INVALID" };
  const stores = of("writer");
  await expect(kvGet(stores, "../x")).rejects.toMatchObject(rejected);
  await expect(kvSet(stores, "k", () => 1)).rejects.toMatchObject(rejected);
  await expect(kvSet(stores, "k", 1, { ttl: 0 })).rejects.toMatchObject(rejected);
  await expect(kvDelete(stores, "k", { namespaces: "x" } as never)).rejects.toMatchObject(rejected);
});
