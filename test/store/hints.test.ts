/** Hints to a principal: which stores have perhaps granted something. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { isLive, scopeOfStore, storeHome } from "../stage/store.ts";
import type { NewGrants, StoreGrant, StoreId } from "../stage/store.ts";
import { granting, grantsOf, newStoreId, openEngines, soon, storeAt, StoreStage, to, writeIn } from "./store-stage.ts";

/** Commits grants of one store. */
const grant = (stage: StoreStage, id: StoreId, grants: Partial<NewGrants>): Promise<void> =>
  stage.commitStores([], granting(id, JSON.stringify(grants), grants));

const hinted = async (stage: StoreStage, id: StoreId): Promise<StoreId[]> =>
  (await stage.store.hintsOf(id)).map(({ store }) => store);

const newStores = (): [StoreId, StoreId, StoreId] => [newStoreId(), newStoreId(), newStoreId()];

describe.each(await openEngines())("$kind", (stage) => {
  const { store } = stage;

  test("name the stores that have granted, the oldest grants first, until they revoke", async () => {
    const [a, b, principal] = newStores();
    expect(await hinted(stage, principal)).toEqual([]);
    await grant(stage, b, { granted: [to(principal, 1)] });
    await grant(stage, a, { granted: [to(b, 2), to(principal, 2, 9)] });
    await grant(stage, a, { granted: [to(principal, 3, 10)] });
    expect(await store.hintsOf(principal)).toEqual([
      { store: b, grantedMs: 1, expiresMs: null, isLeft: false },
      { store: a, grantedMs: 3, expiresMs: 10, isLeft: false },
    ]);
    expect(await hinted(stage, b)).toEqual([a]);
    await grant(stage, a, { revoked: [principal] });
    expect([await hinted(stage, principal), await hinted(stage, a)]).toEqual([[b], []]);
  });

  test("a hint makes no store, and the store works as if it were not there", async () => {
    const [a, , grantee] = newStores();
    await grant(stage, a, { granted: [to(grantee)] });
    const found = (writes: boolean): Promise<unknown> =>
      stage.holdStores([grantee], async (held) => [held.has(grantee), await held.findings(grantee)], { writes });
    expect([await found(false), await found(true)]).toEqual([
      [false, []],
      [false, []],
    ]);
    expect(await store.stores()).not.toContain(grantee);
    await stage.commitStores([writeIn(grantee, "a.md", "first"), writeIn(a, "a.md", "first")]);
    expect(await found(true)).toEqual([true, []]);
    expect(await hinted(stage, grantee)).toEqual([a]);
  });

  test("a refused change of grants revokes nothing, and hints at nothing", async () => {
    const [a, b, principal] = newStores();
    await grant(stage, a, { granted: [to(principal)] });
    const textOfGrants = (): Promise<string | null> => stage.holdStores([a], (held) => grantsOf(held, a));
    const before = await textOfGrants();
    const seen = [{ scope: scopeOfStore(b), path: "b.md", digest: "0".repeat(64) }];
    const grants = granting(a, "new", { granted: [to(b)], revoked: [principal] });
    const refused = stage.commitStores([writeIn(b, "b.md", "x")], { ...grants, seen });
    await expect(refused).rejects.toMatchObject({ code: "BUSY" });
    expect([await hinted(stage, principal), await hinted(stage, b)]).toEqual([[a], []]);
    expect(await textOfGrants()).toBe(before);
  });

  test("beyond 1,000 stores a grant is refused, and those that have ended do not count", async () => {
    const principal = newStoreId();
    const all = Array.from({ length: 1_000 }, (_, at) => storeAt(9_000 - at));
    for (let at = 0; at < all.length; at += 8) {
      await Promise.all(all.slice(at, at + 8).map((id) => plant(stage, id, to(principal, 1, 100))));
    }
    const [one, other] = [storeAt(9_001), storeAt(9_002)];
    const granted = [to(principal, 99)];
    await expect(grant(stage, one, { granted, nowMs: 99 })).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await stage.holdStores([one], (held) => grantsOf(held, one))).toBeNull();
    expect(await hinted(stage, principal)).toHaveLength(1_000);
    // A grant is replaced, and one is left out: then there is room for another.
    await grant(stage, storeAt(9_000), { granted: [to(principal, 99, 101)], nowMs: 99 });
    await store.leave(principal, storeAt(8_999), true);
    await grant(stage, other, { granted, nowMs: 99 });
    await grant(stage, one, { granted, nowMs: 100 });
    const live = (await store.hintsOf(principal)).filter((each) => isLive(each, 100));
    expect(live.map((each) => each.store).toSorted()).toEqual([storeAt(9_000), one, other]);
  });

  test("a principal leaves a store out, also when its grant is replaced, and takes that back", async () => {
    const [a, b, principal] = newStores();
    const isLeft = async (): Promise<boolean[]> => (await store.hintsOf(principal)).map((each) => each.isLeft);
    const left = (): Promise<string[]> =>
      store.hold([storeHome(principal)], "read", soon(), (held) => held.of(storeHome(principal)).records.names("left"));
    await grant(stage, a, { granted: [to(principal, 1)] });
    expect([await left(), await isLeft()]).toEqual([[], [false]]);
    for (const leaves of [false, true, true]) await store.leave(principal, a, leaves);
    expect([await left(), await isLeft()]).toEqual([[a], [true]]);
    // It makes no store, and needs no grant.
    await store.leave(principal, b, true);
    expect([await left(), await store.stores()]).toEqual([[a, b].toSorted(), expect.not.arrayContaining([principal])]);
    await grant(stage, a, { granted: [to(principal, 2)] });
    expect(await isLeft()).toEqual([true]);
    await grant(stage, a, { revoked: [principal] });
    expect(await isLeft()).toEqual([]);
    await grant(stage, a, { granted: [to(principal, 3)] });
    expect(await isLeft()).toEqual([true]);
    await store.leave(principal, a, false);
    expect([await left(), await isLeft()]).toEqual([[b], [false]]);
  });

  test("hints to an erased principal and of its store are forgotten, but for those of later grants", async () => {
    const [a, b, own] = newStores();
    const erasure = randomUUID();
    const all = async (): Promise<StoreId[][]> => Promise.all([own, a, b].map((id) => hinted(stage, id)));
    await grant(stage, a, { granted: [to(own, 5)] });
    await grant(stage, b, { granted: [to(own, 6)] });
    await grant(stage, own, { granted: [to(a, 5), to(b, 6)] });
    await store.leave(own, a, true);
    await store.leave(a, own, true);
    await store.erased.forget({ store: own, erasedMs: 5, id: erasure }, true);
    expect(await all()).toEqual([[b], [], [own]]);
    // What was left out is forgotten as well: it does not count for a later grant.
    await grant(stage, a, { granted: [to(own, 7)] });
    expect((await store.hintsOf(own)).map(({ isLeft }) => isLeft)).toEqual([false, false]);
    await store.erased.forget({ store: own, erasedMs: 7, id: erasure }, true);
    expect(await all()).toEqual([[], [], []]);
  });
});

/** A hint that is there already: a commit for each takes long on a disk. */
async function plant(stage: StoreStage, id: StoreId, planted: StoreGrant): Promise<void> {
  if (stage.kind !== "fileStore") return await grant(stage, id, { granted: [planted] });
  const folder = join(stage.dataDir, "stores/.granted", planted.grantee);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.${planted.grantedMs}.${planted.expiresMs}`), "");
}

test("on a disk, grants that are revoked leave neither a store nor a folder of hints", async () => {
  await using stage = await StoreStage.open("fileStore");
  const [a, grantee] = [newStoreId(), newStoreId()];
  await grant(stage, a, { granted: [to(grantee)] });
  await grant(stage, a, { revoked: [grantee] });
  const stores = join(stage.dataDir, "stores");
  expect(readdirSync(stores).toSorted()).toEqual([".granted", a]);
  expect(readdirSync(join(stores, ".granted"))).toEqual([]);
});

test("two hints of one store, as a crash leaves them, count as the one that ends last", async () => {
  await using stage = await StoreStage.open("fileStore");
  const [a, principal] = [newStoreId(), newStoreId()];
  await plant(stage, a, to(principal, 1, 5));
  await plant(stage, a, to(principal, 2, 9));
  const strange = join(stage.dataDir, "stores/.granted", principal, "notes.txt");
  writeFileSync(strange, "by hand");
  expect(await stage.store.hintsOf(principal)).toMatchObject([{ store: a, expiresMs: 9 }]);
  await grant(stage, a, { revoked: [principal] });
  expect([await hinted(stage, principal), existsSync(strange)]).toEqual([[], true]);
});
