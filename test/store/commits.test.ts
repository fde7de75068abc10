/** A store's guarantees for a change set: all or nothing, based on the current files, in one home or in several. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ownStoreOf, scopeOfStore } from "../stage/store.ts";
import type { Seen, StoreId, UserId } from "../stage/store.ts";
import {
  commitIn,
  granting,
  grantsOf,
  homesIn,
  newStoreId,
  openEngines,
  principal,
  remove,
  restore,
  to,
  trash,
  write,
  writeIn,
} from "./store-stage.ts";
import type { Home } from "./store-stage.ts";

const mebibyte = 2 ** 20;
const engines = await openEngines();

const missing = ({ scope }: Home, path = "a.md"): Seen => ({ scope, path, digest: null });

describe.each(homesIn(engines))("$name", ({ stage, kind, newHome }) => {
  async function homeWith(...paths: readonly string[]): Promise<Home> {
    const home = newHome();
    await home.commit(paths.map((path) => write(path, path)));
    return home;
  }

  test("writes, replaces, moves to the trash and removes, in the order of the steps", async () => {
    const home = newHome();
    await home.commit([write("a.md", "one"), write("b.md", "two"), write("a.md", "three")]);
    expect(await home.files()).toEqual({ "a.md": "three", "b.md": "two" });
    await home.commit([trash("a.md", "trash/a.1.md"), write("a.md", "anew"), remove("b.md")]);
    expect(await home.files()).toEqual({ "a.md": "anew", "trash/a.1.md": "three" });
    await home.commit([write("c.md", "brief"), trash("c.md", "trash/c.1.md"), remove("trash/a.1.md")]);
    expect(await home.files()).toEqual({ "a.md": "anew", "trash/c.1.md": "brief" });
    await home.commit([trash("a.md", "trash/a.2.md"), write("a.md", "anew")]);
    expect(await home.files()).toEqual({ "a.md": "anew", "trash/a.2.md": "anew", "trash/c.1.md": "brief" });
  });

  test.each([
    { name: "a move of a missing file", last: trash("none.md", "trash/none.1.md"), code: "STORAGE_FAILED" },
    { name: "a removal of a missing file", last: remove("none.md"), code: "STORAGE_FAILED" },
    { name: "a move to a taken place", last: trash("b.md", "trash/a.1.md"), code: "STORAGE_FAILED" },
    { name: "a restore of a missing file", last: restore("trash/none.1.md", "none.md"), code: "STORAGE_FAILED" },
    { name: "a restore to a taken place", last: restore("trash/a.1.md", "b.md"), code: "STORAGE_FAILED" },
    { name: "a restore to an invalid path", last: restore("trash/a.1.md", "../a.md"), code: "CAPABILITY_DENIED" },
    { name: "an invalid path", last: write("../b.md", "x"), code: "CAPABILITY_DENIED" },
    { name: "a write into the host's own folder", last: write(".memcell/owner", "x"), code: "CAPABILITY_DENIED" },
    { name: "a write in a folder's place", last: write("trash", "x"), code: "STORAGE_UNSAFE" },
  ])("applies nothing of a change set that ends in $name", async ({ last, code }) => {
    const home = await homeWith("a.md", "b.md");
    await home.commit([trash("a.md", "trash/a.1.md")]);
    const before = await home.files();
    await expect(home.commit([write("new.md", "x"), write("b.md", "changed"), last])).rejects.toMatchObject({ code });
    expect(await home.files()).toEqual(before);
    await home.commit([write("new.md", "x")]);
    expect(await home.files()).toEqual({ ...before, "new.md": "x" });
  });

  test.each([
    { name: "a file in the place of a folder that another file needs", steps: [write("a", "1"), write("a/x.md", "2")] },
    { name: "a file in the place of a new folder", steps: [write("a/b/x.md", "2"), write("a", "1")] },
    {
      name: "a trashed file inside another trashed file",
      steps: [write("a", "1"), write("b", "2"), trash("a", "trash/a.1"), trash("b", "trash/a.1/b.1")],
    },
  ])("refuses what no store can keep with NAME_CONFLICT and applies nothing: $name", async ({ steps }) => {
    const home = await homeWith("kept.md");
    await expect(home.commit(steps)).rejects.toMatchObject({ code: "NAME_CONFLICT" });
    expect(await home.files()).toEqual({ "kept.md": "kept.md" });
    await home.commit([write("next.md", "two")]);
    expect(await home.files()).toEqual({ "kept.md": "kept.md", "next.md": "two" });
  });

  test("refuses more than 80 MiB in one change set with QUOTA_EXCEEDED and applies nothing", async () => {
    const home = newHome();
    const many = Array.from({ length: 81 }, (_, at) => write(`${at}.md`, "x".repeat(mebibyte)));
    await expect(home.commit(many)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await home.files()).toEqual({});
    await home.commit(many.slice(0, 3));
    expect(Object.keys(await home.files())).toHaveLength(3);
  });

  test("repeats a call whose read file has changed, without what the first attempt read", async () => {
    const home = await homeWith("a.md");
    let attempts = 0;
    await home.hold(async (held) => {
      await held.reader.bytesOf(home.scope, "a.md");
      attempts++;
      await held.commit([write("a.md", `attempt ${attempts}`)], attempts === 1 ? [missing(home)] : held.seen);
    });
    expect(attempts).toBe(2);
    expect(await home.files()).toEqual({ "a.md": "attempt 2" });
  });

  test("a call that is stale every time is BUSY, and has changed nothing", async () => {
    const home = await homeWith("a.md");
    let attempts = 0;
    const stale = home.hold(async (held) => {
      attempts++;
      await held.commit([write("a.md", "lost"), write("b.md", "lost")], [missing(home)]);
    });
    await expect(stale).rejects.toMatchObject({ code: "BUSY" });
    expect(attempts).toBe(3);
    expect(await home.files()).toEqual({ "a.md": "a.md" });
  });

  test("a place that was free when the call looked and is taken now makes the call stale", async () => {
    const home = await homeWith("a.md", "b.md");
    await home.commit([trash("b.md", "trash/b.1.md")]);
    const stale = home.commit([restore("trash/b.1.md", "a.md")], [missing(home)]);
    await expect(stale).rejects.toMatchObject({ code: "BUSY" });
    expect(await home.files()).toEqual({ "a.md": "a.md", "trash/b.1.md": "b.md" });
  });

  test("a file that was read twice with different content makes the call stale, whichever was last", async () => {
    const home = await homeWith("a.md");
    const current = await home.hold(async (held) => {
      await held.reader.bytesOf(home.scope, "a.md");
      return held.seen;
    });
    for (const seen of [
      [...current, missing(home)],
      [missing(home), ...current],
    ]) {
      await expect(home.commit([write("a.md", "lost")], seen)).rejects.toMatchObject({ code: "BUSY" });
    }
    await home.commit([write("a.md", "two")], [...current, ...current]);
    expect(await home.files()).toEqual({ "a.md": "two" });
  });

  test("an empty change set creates nothing, and a hold that only reads or looks cannot commit", async () => {
    const home = newHome();
    await home.commit([]);
    for (const options of [{ isLookingOnly: true }, { writes: false }]) {
      const commit = home.hold((held) => held.commit([write("a.md", "x")]), options);
      await expect(commit).rejects.toThrow(RangeError);
    }
    expect(await home.exists()).toBe(false);
  });

  test("one whose files are all removed still exists, with its scope", async () => {
    const home = await homeWith("a.md");
    await home.commit([remove("a.md")]);
    expect(await home.exists()).toBe(true);
    if (kind === "user") expect(await home.hold(({ reader }) => reader.scopes())).toEqual(["memory"]);
    expect(await home.ask(["read", "memory", "a.md"], ["list", "memory", ""])).toEqual([
      { value: null },
      { value: [] },
    ]);
  });

  test("a guest sees what is committed, and nothing before", async () => {
    const home = await homeWith("a.md");
    await home.hold(async (held) => {
      expect(await home.ask(["read", "memory", "a.md"])).toEqual([{ value: "a.md" }]);
      await held.commit([write("a.md", "two"), write("b.md", "new")], []);
      const now = await home.ask(["read", "memory", "a.md"], ["sizeOf", "memory", "b.md"]);
      expect(now).toEqual([{ value: "two" }, { value: 3 }]);
    });
  });

  test("the host reads what it has committed, and nothing after releasing the home", async () => {
    const home = newHome();
    const kept = await home.hold(async (held) => {
      expect(await held.reader.list(home.scope, "")).toEqual([]);
      await held.commit([write("a.md", "one")], []);
      expect(await held.reader.scopeSize(home.scope)).toMatchObject({ live: { files: 1, bytes: 3 } });
      await held.commit([write("a.md", "longer"), write("b.md", "two")], []);
      expect(await held.reader.scopeSize(home.scope)).toMatchObject({ live: { files: 2, bytes: 9 } });
      expect(await held.reader.list(home.scope, "b")).toMatchObject([{ path: "b.md", bytes: 3 }]);
      return held.reader;
    });
    await expect(Promise.resolve().then(() => kept.scopes())).rejects.toThrow(RangeError);
    await expect(Promise.resolve().then(() => kept.bytesOf(home.scope, "a.md"))).rejects.toThrow(RangeError);
  });

  test("the size that is known in the next hold is what a walk measures, and nothing is found amiss", async () => {
    const home = newHome();
    const steps = [
      [write("a.md", "one"), write("b.md", "é")],
      [write("a.md", "longer"), remove("b.md")],
      [trash("a.md", "trash/a.1.md"), write("c.md", "")],
      [write("a.md", "again"), write("d.md", "x"), remove("d.md")],
      [remove("trash/a.1.md"), write("c.md", "c".repeat(2 * mebibyte))],
    ];
    for (const step of [...steps, []]) {
      await home.hold(async (held) => {
        const measured = await held.reader.scopeSize(home.scope);
        const isKnown = stage.kind === "fileStore" && step !== steps[0];
        expect(held.known).toEqual(isKnown ? measured : undefined);
        await held.commit(step, held.seen, { knownSizes: { [home.scope]: measured } });
      });
    }
    expect(await home.hold((held) => held.findings(), { writes: false, isLookingOnly: true })).toEqual([]);
  });
});

const newStores = (): [StoreId, StoreId, StoreId] => [newStoreId(), newStoreId(), newStoreId()];

describe.each(engines)("several stores in a $kind", (stage) => {
  const areThere = async (ids: readonly StoreId[]): Promise<boolean[]> => {
    const all = await stage.store.stores();
    return ids.map((id) => all.includes(id));
  };

  test("change sets write, move and remove in several, and the same path in two is two files", async () => {
    const [a, b, c] = newStores();
    await stage.commitStores([writeIn(b, "a.md", "two"), writeIn(a, "a.md", "one")]);
    await stage.commitStores([writeIn(c, "moved.md", "one"), remove("a.md", scopeOfStore(a))]);
    await stage.commitStores([trash("a.md", "trash/a.1.md", scopeOfStore(b)), writeIn(a, "x/y.md", "three")]);
    expect(await stage.entriesOf(a, b, c)).toEqual({
      "1/x/y.md": "three",
      "2/trash/a.1.md": "two",
      "3/moved.md": "one",
    });
  });

  test("a store exists from its first commit on, of entries or of grants", async () => {
    const [a, b] = newStores();
    const areHeld = (): Promise<boolean[]> => stage.holdStores([a, b], async (held) => [held.has(a), held.has(b)]);
    await stage.commitStores([]);
    expect([await areThere([a, b]), await areHeld()]).toEqual([
      [false, false],
      [false, false],
    ]);
    await stage.commitStores([writeIn(a, "a.md", "one")]);
    await stage.commitStores([], granting(b, ""));
    expect([await areThere([a, b]), await areHeld()]).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(await stage.store.engine.homes()).not.toContainEqual(expect.objectContaining({ kind: "user", id: a }));
  });

  test("a store is its owner's, from the owner's first commit on or by its id, and keeps no other user's id", async () => {
    const chat = newStoreId();
    const [alice, bob] = [`alice of ${chat}`, `bob of ${chat}`] as [UserId, UserId];
    const own = ownStoreOf(alice);
    const owners = async (): Promise<UserId[]> =>
      (await stage.store.users()).filter((id) => [alice, bob, chat as string].includes(id));
    await stage.commitStores([writeIn(own, "a.md", "one"), writeIn(chat, "a.md", "one")], { by: bob });
    expect(await owners()).toEqual([chat]);
    for (const by of [alice, bob]) {
      await stage.commitStores([writeIn(own, "a.md", by)], { by });
      expect((await owners()).toSorted()).toEqual([chat, alice].toSorted());
    }
    if (stage.kind !== "fileStore") return;
    const hostsFolder = (id: StoreId): string => join(stage.dataDir, "stores", id, ".memcell");
    expect(readFileSync(join(hostsFolder(own), "creator"), "utf8")).toBe(alice);
    expect(readdirSync(hostsFolder(chat))).not.toContain("creator");
  });

  test("nothing is applied in a store if a part of its change set is refused", async () => {
    const [a] = newStores();
    await stage.commitStores([writeIn(a, "a.md", "one")]);
    const steps = [writeIn(a, "a.md", "changed"), writeIn(a, "new.md", "x"), remove("none.md", scopeOfStore(a))];
    await expect(stage.commitStores(steps)).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect(await stage.entriesOf(a)).toEqual({ "1/a.md": "one" });
    await stage.commitStores([writeIn(a, "new.md", "x")]);
  });

  test("more than 80 MiB are refused, and nothing is applied", async () => {
    const [a] = newStores();
    const large = Array.from({ length: 82 }, (_, at) => writeIn(a, `${at}`, "x".repeat(mebibyte)));
    await expect(stage.commitStores(large)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await stage.entriesOf(a)).toEqual({});
    await stage.commitStores(large.slice(1, 2));
  });

  test("only stores that are held can be used, and only while they are", async () => {
    const [a, b] = newStores();
    const kept = await stage.holdStores([a], async (held) => {
      expect(() => held.reader(b)).toThrow(RangeError);
      expect(() => held.has(b)).toThrow(RangeError);
      for (const id of [a, b]) {
        const other = held.commit(id, { by: principal, changes: [writeIn(b, "b.md", "x")], seen: [] });
        await expect(other).rejects.toThrow(RangeError);
      }
      const ofUser = held.commit(a, { by: principal, changes: [write("b.md", "x")], seen: [] });
      await expect(ofUser).rejects.toMatchObject({ code: "CAPABILITY_DENIED" });
      return held;
    });
    expect(() => kept.reader(a)).toThrow(RangeError);
    expect(await areThere([a, b])).toEqual([false, false]);
  });

  test("grants change with entries or alone, and only as one file", async () => {
    const [a, b, c] = newStores();
    const grantsInA = (content: string) => granting(a, content, { granted: [to(c)] });
    await stage.commitStores([writeIn(b, "b.md", "two")], grantsInA("first"));
    await stage.holdStores([a, b], async (held) => {
      expect([await grantsOf(held, a), await grantsOf(held, b)]).toEqual(["first", null]);
      const reader = held.reader(a);
      const denied = { code: "CAPABILITY_DENIED" };
      await expect(reader.list("grants", "")).rejects.toMatchObject(denied);
      await expect(reader.survey("grants")).rejects.toMatchObject(denied);
      await expect(reader.scopeSize("grants")).rejects.toMatchObject(denied);
      await expect(reader.bytesOf("grants", "grants.json")).rejects.toMatchObject(denied);
      expect(await reader.scopes()).toEqual(["entries"]);
      expect(held.seen).toEqual([]);
      await commitIn(held, [], grantsInA("second"));
      expect(await grantsOf(held, a)).toBe("second");
    });
    const refused = stage.commitStores([remove("none.md", scopeOfStore(b))], grantsInA("third"));
    await expect(refused).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect(await stage.holdStores([a], (held) => grantsOf(held, a))).toBe("second");
  });
});
