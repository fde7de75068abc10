/** Hints to a principal: which stores have perhaps granted something. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { NewGrants } from "../../host/store/shared-stores.ts";
import type { StoreId } from "../../host/values/store-id.ts";
import { grantsOf, storeA, storeAt, storeB, storeC, writeIn } from "./store-files.ts";
import { storeKinds, StoreStage } from "./store-stage.ts";

const grant = (id: StoreId, grantees: StoreId[], revoked: StoreId[] = []): { grants: Map<StoreId, NewGrants> } => ({
  grants: new Map([[id, { content: JSON.stringify(grantees), grantees, revoked }]]),
});

describe.each(storeKinds)("%s", (kind) => {
  test("name the stores that have granted, until they revoke", async () => {
    await using stage = new StoreStage(kind);
    const { shared } = stage.store;
    expect(await shared.grantedTo(storeC)).toEqual([]);
    await stage.commitStores([], grant(storeB, [storeC]));
    await stage.commitStores([], grant(storeA, [storeB, storeC]));
    await stage.commitStores([], grant(storeA, [storeB, storeC]));
    expect(await shared.grantedTo(storeC)).toEqual([storeA, storeB]);
    expect(await shared.grantedTo(storeB)).toEqual([storeA]);
    await stage.commitStores([], grant(storeA, [storeB], [storeC]));
    expect(await shared.grantedTo(storeC)).toEqual([storeB]);
    expect(await shared.grantedTo(storeA)).toEqual([]);
  });

  test("a hint makes no store, and the store works as if it were not there", async () => {
    await using stage = new StoreStage(kind);
    await stage.commitStores([], grant(storeA, [storeC, storeA]));
    const { shared } = stage.store;
    expect(await shared.ids()).toEqual([storeA]);
    expect(await shared.grantedTo(storeA)).toEqual([]);
    for (const writes of [false, true]) {
      const found = await stage.holdStores(
        [storeC],
        async (held) => [held.has(storeC), held.creatorOf(storeC), await held.findings(storeC)],
        { writes },
      );
      expect(found).toEqual([false, null, []]);
    }
    await stage.commitStores([writeIn(storeC, "a.md", "first"), writeIn(storeA, "a.md", "first")]);
    expect((await shared.ids()).toSorted()).toEqual([storeA, storeC]);
    expect(await shared.grantedTo(storeC)).toEqual([storeA]);
    const found = await stage.holdStores([storeC], async (held) => [held.has(storeC), await held.findings(storeC)]);
    expect(found).toEqual([true, []]);
  });

  test("a refused change of grants revokes nothing", async () => {
    await using stage = new StoreStage(kind);
    await stage.commitStores([], grant(storeA, [storeC]));
    const wrong = { scope: `store:${storeB}`, path: "b.md", digest: "0".repeat(64) };
    const changes = [writeIn(storeB, "b.md", "x")];
    const refused = stage.commitStores(changes, { ...grant(storeA, [], [storeC]), seen: [wrong] });
    await expect(refused).rejects.toMatchObject({ code: "BUSY" });
    expect(await stage.store.shared.grantedTo(storeC)).toEqual([storeA]);
    expect(await stage.holdStores([storeA], (held) => grantsOf(held, storeA))).toBe(JSON.stringify([storeC]));
  });
});

test("a principal gets at most 1,000, and the first ones stay: fileStore", async () => {
  await using stage = new StoreStage("fileStore");
  const all = Array.from({ length: 1_002 }, (_, at) => storeAt(9_000 - at));
  const granted = join(stage.dataDir, "stores", storeC, ".memcell/granted");
  mkdirSync(granted, { recursive: true });
  for (const id of all.slice(0, 999)) writeFileSync(join(granted, id), "");
  for (const id of all.slice(999)) await stage.commitStores([], grant(id, [storeC]));
  expect(await stage.store.shared.grantedTo(storeC)).toEqual(all.slice(0, 1_000).toSorted());
});

test("a principal gets at most 1,000, and the first ones stay: memoryStore", async () => {
  await using stage = new StoreStage("memoryStore");
  const all = Array.from({ length: 1_002 }, (_, at) => storeAt(9_000 - at));
  for (const id of all) await stage.commitStores([], grant(id, [storeC]));
  expect(await stage.store.shared.grantedTo(storeC)).toEqual(all.slice(0, 1_000).toSorted());
});
