/** The guarantees for change sets of shared stores: all or nothing over several stores, based on the current files. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ownStoreOf, scopeOfStore, sizeOfFiles } from "../stage/store.ts";
import type { ChangeSet, NewGrants, Seen, StoreId, UserId } from "../stage/store.ts";
import {
  granting,
  to,
  entriesOf,
  grantsOf,
  removeIn,
  storeA,
  storeAt,
  storeB,
  storeC,
  textOf,
  trashIn,
  writeIn,
} from "./store-files.ts";
import { principal, storeKinds, StoreStage, write } from "./store-stage.ts";

const ownerOfC = storeC as string as UserId;

const grantsInA = (content: string): ReadonlyMap<StoreId, NewGrants> =>
  granting(storeA, content, { granted: [to(storeC)] });

describe.each(storeKinds)("%s", (kind) => {
  test("one change set writes, moves and removes in several stores", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeB, "b.md", "two"), writeIn(storeA, "a.md", "one")]);
    await stage.commitStores([writeIn(storeC, "moved.md", "one"), removeIn(storeA, "a.md")]);
    await stage.commitStores([trashIn(storeB, "b.md", "trash/b.1.md"), writeIn(storeA, "x/y.md", "three")]);
    expect(await entriesOf(stage, [storeA, storeB, storeC])).toEqual({
      "1/x/y.md": "three",
      "2/trash/b.1.md": "two",
      "3/moved.md": "one",
    });
  });

  test("a store exists from its first commit on", async () => {
    await using stage = await StoreStage.open(kind);
    const areThere = (): Promise<unknown> =>
      stage.holdStores([storeA, storeB], async (held) => [storeA, storeB].map((id) => held.has(id)));
    await stage.commitStores([]);
    expect(await areThere()).toEqual([false, false]);
    expect(await stage.store.shared.ids()).toEqual([]);
    await stage.commitStores([writeIn(storeA, "a.md", "one")]);
    await stage.commitStores([writeIn(storeA, "b.md", "two")], { by: ownerOfC });
    await stage.commitStores([], { by: ownerOfC, grants: granting(storeB, "") });
    expect(await areThere()).toEqual([true, true]);
    expect((await stage.store.shared.ids()).toSorted()).toEqual([storeA, storeB]);
    expect(await stage.store.users()).toEqual([]);
  });

  test("a store is its owner's: by its id, or from the owner's first commit on", async () => {
    await using stage = await StoreStage.open(kind);
    const [alice, bob] = ["alice", "bob"] as UserId[] as [UserId, UserId];
    const own = ownStoreOf(alice);
    const { shared } = stage.store;
    await stage.commitStores([writeIn(own, "a.md", "one"), writeIn(storeC, "a.md", "one")], { by: bob });
    expect(await shared.owners()).toEqual([ownerOfC]);
    await stage.commitStores([writeIn(own, "a.md", "two")], { by: alice });
    expect((await shared.owners()).toSorted()).toEqual([ownerOfC, alice].toSorted());
    await stage.commitStores([writeIn(own, "a.md", "three")], { by: bob });
    expect((await shared.owners()).toSorted()).toEqual([ownerOfC, alice].toSorted());
  });

  test("a store keeps no user id but its owner's", async () => {
    await using stage = await StoreStage.open(kind);
    const [alice, bob] = ["alice", "bob"] as UserId[] as [UserId, UserId];
    for (const by of [bob, alice, bob]) await stage.commitStores([writeIn(ownStoreOf(alice), "a.md", by)], { by });
    expect(await stage.store.shared.owners()).toEqual([alice]);
    if (kind !== "fileStore") return;
    const own = join(stage.dataDir, "stores", ownStoreOf(alice), ".memcell");
    expect(readFileSync(join(own, "creator"), "utf8")).toBe("alice");
    await stage.commitStores([writeIn(storeA, "a.md", "one")], { by: bob });
    expect(readdirSync(join(stage.dataDir, "stores", storeA, ".memcell"))).not.toContain("creator");
  });

  test("reading a store that does not exist finds nothing and makes nothing", async () => {
    await using stage = await StoreStage.open(kind);
    for (const writes of [false, true]) {
      const found = await stage.holdStores(
        [storeA],
        async (held) => {
          const reader = held.reader(storeA);
          const files = [await textOf(held, storeA, "a.md"), await grantsOf(held, storeA)];
          const sizes = [await reader.list("entries", ""), await reader.scopeSize("entries"), await reader.scopes()];
          return [...files, ...sizes, await held.findings(storeA)];
        },
        { writes },
      );
      expect(found).toEqual([null, null, [], sizeOfFiles([]), [], []]);
    }
    expect(await stage.store.shared.ids()).toEqual([]);
  });

  const bad: { name: string; last: ChangeSet[number]; code: RegExp }[] = [
    { name: "a removal of a missing file", last: removeIn(storeB, "none.md"), code: /^STORAGE_FAILED$/ },
    { name: "a move to a taken place", last: trashIn(storeB, "b.md", "trash/x.md"), code: /^STORAGE_FAILED$/ },
    { name: "an invalid path", last: writeIn(storeB, "../b.md", "x"), code: /^CAPABILITY_DENIED$/ },
    { name: "the host's own folder", last: writeIn(storeB, ".memcell/owner", "x"), code: /^CAPABILITY_DENIED$/ },
    { name: "a file in a folder's place", last: writeIn(storeB, "trash", "x"), code: /^STORAGE_UNSAFE$/ },
  ];
  test.each(bad)("applies nothing in any store if one part is refused: $name", async ({ last, code }) => {
    await using stage = await StoreStage.open(kind);
    const begun = [writeIn(storeA, "a.md", "one"), writeIn(storeB, "b.md", "two"), writeIn(storeB, "c.md", "three")];
    await stage.commitStores(begun);
    await stage.commitStores([trashIn(storeB, "c.md", "trash/x.md")]);
    const before = await entriesOf(stage);
    const steps = [writeIn(storeA, "a.md", "changed"), writeIn(storeA, "new.md", "x"), last];
    await expect(stage.commitStores(steps)).rejects.toMatchObject({ code: expect.stringMatching(code) });
    expect(await entriesOf(stage)).toEqual(before);
    await stage.commitStores([writeIn(storeA, "new.md", "x"), writeIn(storeB, "new.md", "y")]);
    expect(await entriesOf(stage)).toEqual({ ...before, "1/new.md": "x", "2/new.md": "y" });
  });

  test("refuses more than 80 MiB and more than 32 stores in one change set, and applies nothing", async () => {
    await using stage = await StoreStage.open(kind);
    const large = "x".repeat(2 ** 20);
    const bytes = Array.from({ length: 82 }, (_, at) => writeIn(at % 2 ? storeA : storeB, `${at}.md`, large));
    await expect(stage.commitStores(bytes)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    const stores = Array.from({ length: 33 }, (_, at) => storeAt(at + 1));
    const many = stores.map((id) => writeIn(id, "a.md", "x"));
    await expect(stage.commitStores(many)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await entriesOf(stage, stores)).toEqual({});
    await stage.commitStores(many.slice(1));
    expect(Object.keys(await entriesOf(stage, stores))).toHaveLength(32);
  });

  test("repeats work if a file that it read has changed in any of its stores", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", "one"), writeIn(storeB, "b.md", "two")]);
    const wrong: Seen = { scope: scopeOfStore(storeB), path: "b.md", digest: null };
    let runs = 0;
    await stage.holdStores([storeA, storeB], async (held) => {
      runs++;
      await textOf(held, storeB, "b.md");
      const changes = [writeIn(storeA, "a.md", `run ${runs}`), writeIn(storeB, "b.md", `run ${runs}`)];
      await held.commit({ by: principal, changes, seen: runs === 1 ? [wrong] : held.seen });
    });
    expect(runs).toBe(2);
    expect(await entriesOf(stage)).toEqual({ "1/a.md": "run 2", "2/b.md": "run 2" });
  });

  test("work that is stale every time is BUSY, and has changed nothing", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", "one"), writeIn(storeB, "b.md", "two")]);
    const seen: Seen[] = [{ scope: scopeOfStore(storeB), path: "b.md", digest: "0".repeat(64) }];
    const changes = [writeIn(storeA, "a.md", "lost"), writeIn(storeB, "b.md", "lost")];
    await expect(stage.commitStores(changes, { seen })).rejects.toMatchObject({ code: "BUSY" });
    expect(await entriesOf(stage)).toEqual({ "1/a.md": "one", "2/b.md": "two" });
  });

  test("the same path in two stores is two files", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", "of A"), writeIn(storeB, "a.md", "of B")]);
    await stage.holdStores([storeA, storeB], async (held) => {
      const texts = [await textOf(held, storeA, "a.md"), await textOf(held, storeB, "a.md")];
      expect(texts).toEqual(["of A", "of B"]);
      await held.commit({ by: principal, changes: [writeIn(storeA, "a.md", "anew")], seen: held.seen });
      expect(await textOf(held, storeA, "a.md")).toBe("anew");
    });
    expect(await entriesOf(stage)).toEqual({ "1/a.md": "anew", "2/a.md": "of B" });
  });

  test("only stores that are held can be used, and only while they are", async () => {
    await using stage = await StoreStage.open(kind);
    const kept = await stage.holdStores([storeA], async (held) => {
      expect(() => held.reader(storeB)).toThrow(RangeError);
      expect(() => held.has(storeB)).toThrow(RangeError);
      const other = held.commit({ by: principal, changes: [writeIn(storeB, "b.md", "x")], seen: [] });
      await expect(other).rejects.toThrow(RangeError);
      const ofUser = held.commit({ by: principal, changes: [write("b.md", "x")], seen: [] });
      await expect(ofUser).rejects.toMatchObject({ code: "CAPABILITY_DENIED" });
      return { held, reader: held.reader(storeA) };
    });
    expect(() => kept.held.reader(storeA)).toThrow(RangeError);
    await expect(kept.reader.bytesOf("entries", "a.md")).rejects.toThrow(RangeError);
    expect(await stage.store.shared.ids()).toEqual([]);
  });

  test.each([{ writes: false }, { isLookingOnly: true }])("a hold with %j commits nothing", async (options) => {
    await using stage = await StoreStage.open(kind);
    const changes = [writeIn(storeA, "a.md", "x")];
    const held = stage.holdStores([storeA], (each) => each.commit({ by: principal, changes, seen: [] }), options);
    await expect(held).rejects.toThrow(RangeError);
    expect(await stage.store.shared.ids()).toEqual([]);
  });

  test("grants change with entries or alone, and only as one file", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeB, "b.md", "two")], { grants: grantsInA("first") });
    await stage.holdStores([storeA, storeB], async (held) => {
      expect([await grantsOf(held, storeA), await grantsOf(held, storeB)]).toEqual(["first", null]);
      const reader = held.reader(storeA);
      await expect(reader.list("grants", "")).rejects.toThrow(RangeError);
      await expect(reader.survey("grants")).rejects.toThrow(RangeError);
      await expect(reader.scopeSize("grants")).rejects.toThrow(RangeError);
      expect(await reader.scopes()).toEqual([]);
      expect(held.seen).toEqual([]);
      await held.commit({ by: principal, changes: [], seen: [], grants: grantsInA("second") });
      expect(await grantsOf(held, storeA)).toBe("second");
    });
    const refused = stage.commitStores([removeIn(storeB, "none.md")], { grants: grantsInA("third") });
    await expect(refused).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect(await stage.holdStores([storeA], (held) => grantsOf(held, storeA))).toBe("second");
  });

  test("the sizes of entries are kept from one hold to the next as they are", async () => {
    await using stage = await StoreStage.open(kind);
    const scopes = [storeA, storeB].map(scopeOfStore);
    const step = (changes: ChangeSet): Promise<unknown> =>
      stage.holdStores([storeA, storeB], async (held) => {
        const [a, b] = [await held.reader(storeA).scopeSize("entries"), await held.reader(storeB).scopeSize("entries")];
        const measured = Object.fromEntries(scopes.map((scope, at) => [scope, [a, b][at] ?? {}]));
        for (const [scope, known] of Object.entries(held.knownSizes)) expect(known).toEqual(measured[scope]);
        await held.commit({ by: principal, changes, seen: [], knownSizes: measured });
        return Object.keys(held.knownSizes).length;
      });
    await step([writeIn(storeA, "a.md", "one"), writeIn(storeB, "b.md", "second")]);
    await step([writeIn(storeA, "a.md", "longer"), removeIn(storeB, "b.md")]);
    await step([trashIn(storeA, "a.md", "trash/a.1.md"), writeIn(storeB, "é.md".replace("é", "e"), "é")]);
    expect(await step([])).toBe(kind === "fileStore" ? 2 : 0);
  });
});
