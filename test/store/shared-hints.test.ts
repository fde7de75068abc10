/** Hints to a principal: which stores have perhaps granted something. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { isLive } from "../../host/store/grant-hints.ts";
import type { NewGrants, StoreGrant, StoreId } from "../stage/store.ts";
import { granting, grantsOf, storeA, storeAt, storeB, storeC, to, writeIn } from "./store-files.ts";
import { storeKinds, StoreStage } from "./store-stage.ts";

const principal = storeC;

/** Commits grants of one store. */
function grant(stage: StoreStage, id: StoreId, grants: Partial<NewGrants>): Promise<void> {
  return stage.commitStores([], { grants: granting(id, JSON.stringify(grants), grants) });
}

const until = (grantee: StoreId, expiresMs: number, grantedMs = 1): StoreGrant => ({
  grantee,
  level: "read",
  grantedMs,
  expiresMs,
});

const hinted = async (stage: StoreStage, id = principal): Promise<StoreId[]> =>
  (await stage.store.shared.hintsOf(id)).map(({ store }) => store);

describe.each(storeKinds)("%s", (kind) => {
  test("name the stores that have granted, the oldest grants first, until they revoke", async () => {
    await using stage = await StoreStage.open(kind);
    expect(await hinted(stage)).toEqual([]);
    await grant(stage, storeB, { granted: [to(principal, 1)] });
    await grant(stage, storeA, { granted: [to(storeB, 2), until(principal, 9, 2)] });
    await grant(stage, storeA, { granted: [until(principal, 10, 3)] });
    expect(await stage.store.shared.hintsOf(principal)).toEqual([
      { store: storeB, grantedMs: 1, expiresMs: null, isLeft: false },
      { store: storeA, grantedMs: 3, expiresMs: 10, isLeft: false },
    ]);
    expect(await hinted(stage, storeB)).toEqual([storeA]);
    await grant(stage, storeA, { revoked: [principal] });
    expect(await hinted(stage)).toEqual([storeB]);
    expect(await hinted(stage, storeA)).toEqual([]);
  });

  test("a hint makes no store, and the store works as if it were not there", async () => {
    await using stage = await StoreStage.open(kind);
    await grant(stage, storeA, { granted: [to(principal)] });
    const { shared } = stage.store;
    expect(await shared.ids()).toEqual([storeA]);
    for (const writes of [false, true]) {
      const found = await stage.holdStores([storeC], async (held) => [held.has(storeC), await held.findings(storeC)], {
        writes,
      });
      expect(found).toEqual([false, []]);
    }
    await stage.commitStores([writeIn(storeC, "a.md", "first"), writeIn(storeA, "a.md", "first")]);
    expect((await shared.ids()).toSorted()).toEqual([storeA, storeC]);
    expect(await hinted(stage)).toEqual([storeA]);
    const found = await stage.holdStores([storeC], async (held) => [held.has(storeC), await held.findings(storeC)]);
    expect(found).toEqual([true, []]);
  });

  test("a refused change of grants revokes nothing, and hints at nothing", async () => {
    await using stage = await StoreStage.open(kind);
    await grant(stage, storeA, { granted: [to(principal)] });
    const before = await stage.holdStores([storeA], (held) => grantsOf(held, storeA));
    const wrong = { scope: `store:${storeB}`, path: "b.md", digest: "0".repeat(64) };
    const changes = [writeIn(storeB, "b.md", "x")];
    const grants = granting(storeA, "new", { granted: [to(storeB)], revoked: [principal] });
    const refused = stage.commitStores(changes, { grants, seen: [wrong] });
    await expect(refused).rejects.toMatchObject({ code: "BUSY" });
    expect([await hinted(stage), await hinted(stage, storeB)]).toEqual([[storeA], []]);
    expect(await stage.holdStores([storeA], (held) => grantsOf(held, storeA))).toBe(before);
  });

  test("beyond 1,000 stores a grant is refused, and those that have ended do not count", async () => {
    await using stage = await StoreStage.open(kind);
    const all = Array.from({ length: 1_000 }, (_, at) => storeAt(9_000 - at));
    for (const id of all) await plant(stage, id, until(principal, 100));
    const [one, other] = [storeAt(9_001), storeAt(9_002)];
    const granted = [to(principal, 99)];
    await expect(grant(stage, one, { granted, nowMs: 99 })).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await stage.holdStores([one], (held) => grantsOf(held, one))).toBeNull();
    expect(await hinted(stage)).toHaveLength(1_000);
    // A grant is replaced, and one is left out: then there is room for another.
    await grant(stage, storeAt(9_000), { granted: [until(principal, 101, 99)], nowMs: 99 });
    await stage.store.shared.leave(principal, storeAt(8_999), true);
    await grant(stage, other, { granted, nowMs: 99 });
    await grant(stage, one, { granted, nowMs: 100 });
    const live = (await stage.store.shared.hintsOf(principal)).filter((each) => isLive(each, 100));
    expect(live.map(({ store }) => store).toSorted()).toEqual([storeAt(9_000), one, other]);
  });

  test("a principal leaves a store out, also when its grant is replaced, and takes that back", async () => {
    await using stage = await StoreStage.open(kind);
    const { shared } = stage.store;
    const isLeft = async (): Promise<boolean[]> => (await shared.hintsOf(principal)).map((each) => each.isLeft);
    expect(await shared.leave(principal, storeA, true)).toBe(false);
    await grant(stage, storeA, { granted: [to(principal, 1)] });
    expect(await shared.leave(principal, storeA, false)).toBe(false);
    expect([await shared.leave(principal, storeA, true), await shared.leave(principal, storeA, true)]).toEqual([
      true,
      false,
    ]);
    expect(await isLeft()).toEqual([true]);
    await grant(stage, storeA, { granted: [to(principal, 2)] });
    expect(await isLeft()).toEqual([true]);
    await grant(stage, storeA, { revoked: [principal] });
    expect(await isLeft()).toEqual([]);
    await grant(stage, storeA, { granted: [to(principal, 3)] });
    expect(await isLeft()).toEqual([true]);
    expect(await shared.leave(principal, storeA, false)).toBe(true);
    expect(await isLeft()).toEqual([false]);
  });
});

/** A hint that is there already: a commit for each takes long on a disk. */
async function plant(stage: StoreStage, id: StoreId, planted: StoreGrant): Promise<void> {
  if (stage.definition.location.kind !== "files") return await grant(stage, id, { granted: [planted] });
  const folder = join(stage.dataDir, "stores/.granted", planted.grantee);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.${planted.grantedMs}.${planted.expiresMs}`), "");
}

test("nothing is left of grants that are revoked: neither a store nor a folder of hints", async () => {
  await using stage = await StoreStage.open("fileStore");
  for (let at = 10; at < 20; at++) {
    await grant(stage, storeA, { granted: [to(storeAt(at))] });
    await grant(stage, storeA, { revoked: [storeAt(at)] });
  }
  const stores = join(stage.dataDir, "stores");
  expect(readdirSync(stores).toSorted()).toEqual([".granted", storeA]);
  expect(readdirSync(join(stores, ".granted"))).toEqual([]);
});

test("two hints of one store, as a crash leaves them, count as the one that ends last", async () => {
  await using stage = await StoreStage.open("fileStore");
  await plant(stage, storeA, until(principal, 5, 1));
  await plant(stage, storeA, until(principal, 9, 2));
  const strange = join(stage.dataDir, "stores/.granted", principal, "notes.txt");
  writeFileSync(strange, "by hand");
  expect(await stage.store.shared.hintsOf(principal)).toMatchObject([{ store: storeA, expiresMs: 9 }]);
  await grant(stage, storeA, { revoked: [principal] });
  expect(await hinted(stage)).toEqual([]);
  expect(existsSync(strange)).toBe(true);
});
