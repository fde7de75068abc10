/** `runtime.stores`: who reaches a user's store, and values that models never see. */
import { storeIdOf } from "memcell";
import type { UserStores } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallEntry } from "../stage/audit-log.ts";
import { ids, nowMs, openStoreStage } from "./store-stage.ts";
import type { Name, StoreStage } from "./store-stage.ts";

let stage: StoreStage;
beforeAll(async () => {
  stage = await openStoreStage();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const of = (user: Name): UserStores => stage.runtime.stores({ userId: ids[user] });
const rejected = { code: "INPUT_INVALID" };

test("lists what a user reaches, the user's own first, and why", async () => {
  expect(await of("reader").list()).toEqual([
    { id: ids.reader, level: "readwrite", source: "self" },
    { id: ids.alice, level: "read", source: "grant" },
  ]);
  const stores = [{ id: ids.chat, kind: "chat" as const, level: "search" as const }];
  expect(await stage.runtime.stores({ userId: ids.stranger, stores }).list()).toEqual([
    { id: ids.stranger, level: "readwrite", source: "self" },
    { id: ids.chat, level: "search", source: "chat" },
  ]);
});

describe("a grant", () => {
  test("is shown with its times, replaced by the next one, and revoked once", async () => {
    const stores = stage.runtime.stores({ userId: "a person" });
    await stores.grant("planner");
    await stores.grant(storeIdOf("planner"), { level: "search", expiresAt: new Date(nowMs + 1) });
    expect(await stores.grants()).toEqual([
      { grantee: storeIdOf("planner"), level: "search", grantedAt: new Date(nowMs), expiresAt: new Date(nowMs + 1) },
    ]);
    expect(await stage.runtime.stores({ userId: "planner" }).list()).toContainEqual({
      id: storeIdOf("a person"),
      level: "search",
      source: "grant",
    });
    expect([await stores.revoke("planner"), await stores.revoke("planner")]).toEqual([true, false]);
    expect(await stage.runtime.stores({ userId: "planner" }).list()).toHaveLength(1);
  });

  const odd: Readonly<Record<string, readonly [string, object]>> = {
    "to the user": [ids.stranger, {}],
    "of an unknown level": ["x", { level: "admin" }],
    "that has ended": ["x", { expiresAt: new Date(nowMs) }],
    "until no time": ["x", { expiresAt: new Date(Number.NaN) }],
    "until a text": ["x", { expiresAt: "2030-01-01" }],
  };
  test.each(Object.entries(odd))("%s is refused, with what is allowed", async (_name, [to, grant]) => {
    await expect(of("stranger").grant(to, grant)).rejects.toMatchObject({
      ...rejected,
      message: expect.stringContaining("; expected ") as string,
    });
    expect(await of("stranger").grants()).toEqual([]);
  });

  const upper = "ABCDEF00-0000-4000-8000-000000000003";
  const spellings = [upper, `urn:uuid:${ids.reader}`, "00000000-0000-0000-0000-000000000000"];
  test.each(["", "..", null, ...spellings])("to %j, which names nobody, is refused", async (to) => {
    const refused = { ...rejected, issues: [{ field: "grantee" }] };
    const message = /^Cannot grant access: grantee is .*; expected the id of a store, a UUID in lower case, or a user/;
    const granting = of("stranger").grant(to as string);
    await expect(granting).rejects.toMatchObject({ ...refused, message: expect.stringMatching(message) as string });
    await expect(of("stranger").revoke(to as string)).rejects.toMatchObject(refused);
  });

  test("to a UUID of version 8 is for the store with this id, not for a user with this id", async () => {
    const id = storeIdOf("a critic");
    await of("stranger").grant(id);
    const lists = ["a critic", id].map((userId) => stage.runtime.stores({ userId }).list());
    expect((await Promise.all(lists)).map(({ length }) => length)).toEqual([2, 1]);
    expect(await of("stranger").revoke(id)).toBe(true);
  });

  test.each([{ levels: "read" }, null, []])("with the options %j is refused", async (grant) => {
    await expect(of("stranger").grant("x", grant as never)).rejects.toMatchObject(rejected);
    await expect(of("stranger").setInternal(null, "k", 1, grant as never)).rejects.toMatchObject(rejected);
    await expect(of("stranger").getInternal(null, "k", grant as never)).rejects.toMatchObject(rejected);
  });

  test("beyond the hundredth is refused", async () => {
    const stores = stage.runtime.stores({ userId: "popular" });
    for (let number = 0; number < 100; number++) await stores.grant(`user ${number}`);
    await stores.grant("user 7", { level: "readwrite" });
    await expect(stores.grant("one more")).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await stores.grants()).toHaveLength(100);
  });

  test("is on record, with who got it", async () => {
    await of("chat").grant(ids.reader, { level: "search" });
    const records = stage.records().filter((each): each is CallEntry => each.kind === "staged");
    expect(records.at(-1)).toMatchObject({
      userId: ids.chat,
      granted: [{ store: ids.chat, grantee: ids.reader, level: "search" }],
    });
  });
});

test("a store that the user has left is in no list and no search, but has its path", async () => {
  await using own = await openStoreStage();
  const stores = own.runtime.stores({ userId: ids.reader });
  const search = { command: "search", query: "secret" };
  expect(await own.memory("reader", search)).toMatchObject({ data: { results: [{}] } });
  expect([await stores.leave(ids.alice), await stores.leave(ids.alice)]).toEqual([true, false]);
  expect(await own.memory("reader", search)).toMatchObject({ data: { results: [] } });
  expect(await own.memory("reader", { command: "stores" })).toMatchObject({ data: { stores: [{}] } });
  expect(await stores.list()).toHaveLength(1);
  expect(await own.runtime.memoryIndex({ userId: ids.reader })).not.toContain(ids.alice);
  const path = `/memories/shared/${ids.alice}/a.md`;
  expect(await own.memory("reader", { command: "view", path })).toMatchObject({ ok: true });
  expect([await stores.rejoin(ids.alice), await stores.rejoin(ids.alice)]).toEqual([true, false]);
  expect(await stores.list()).toHaveLength(2);
  // A store that has granted nothing answers as one that does not exist.
  expect([await stores.leave(ids.writer), await stores.leave(ids.unknown)]).toEqual([false, false]);
  // What is left stays left without a grant, and rejoin tells of it.
  expect(await stores.leave(ids.alice)).toBe(true);
  await own.runtime.stores({ userId: ids.alice }).revoke(ids.reader);
  expect([await stores.leave(ids.alice), await stores.rejoin(ids.alice), await stores.rejoin(ids.alice)]).toEqual([
    false,
    true,
    false,
  ]);
  await expect(stores.leave("alice")).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

describe("a value of a program", () => {
  test("comes back as it was, for one namespace, one creator and one store", async () => {
    const value = ["x\n", 1.5, { a: null }, false];
    await of("writer").setInternal(ids.alice, "k", value, { namespace: "app" });
    expect(await of("writer").getInternal(ids.alice, "k", { namespace: "app" })).toEqual(value);
    expect(await of("writer").getInternal(ids.alice, "k")).toBeNull();
    expect(await of("writer").getInternal(null, "k", { namespace: "app" })).toBeNull();
    expect(await of("alice").getInternal(null, "k", { namespace: "app" })).toBeNull();
    // No command shows it, as the vectors of `memory-defects` have it, and no prompt either.
    await of("writer").setInternal(null, "hidden", "needle");
    expect(await stage.runtime.memoryIndex({ userId: ids.writer })).not.toContain("hidden");
  });

  test("of a store that the user does not reach is ACCESS_DENIED, to read as to write", async () => {
    const denied = { code: "ACCESS_DENIED" };
    await expect(of("stranger").getInternal(ids.alice, "k")).rejects.toMatchObject(denied);
    await expect(of("searcher").getInternal(ids.alice, "k")).rejects.toMatchObject(denied);
    await expect(of("reader").setInternal(ids.alice, "k", 1)).rejects.toMatchObject(denied);
    await expect(of("reader").getInternal("no id", "k")).rejects.toMatchObject(rejected);
  });
});

test("a closed runtime refuses all of it", async () => {
  const closed = await openStoreStage();
  const stores = closed.runtime.stores({ userId: ids.alice });
  await closed[Symbol.asyncDispose]();
  const calls = [
    () => stores.list(),
    () => stores.grant("x"),
    () => stores.leave(ids.chat),
    () => stores.setInternal(null, "k", 1),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "CLOSED" });
});
