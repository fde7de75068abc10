/** Erasing a user: everything of the user goes, and nothing else; later calls begin anew. */
import { EventEmitter, once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { HeldToErase, HoldToEraseOptions } from "../../host/store/erasing.ts";
import { ownStoreOf, scopeOfStore } from "../stage/store.ts";
import type { StoreId, UserId } from "../stage/store.ts";
import { entriesOf, granting, storeA, storeB, textOf, to, writeIn } from "./store-files.ts";
import { storeKinds, StoreStage, trash, write } from "./store-stage.ts";

const [alice, bob] = ["alice", "bob"] as UserId[] as [UserId, UserId];
const own = ownStoreOf(alice);

async function filled(kind: (typeof storeKinds)[number]): Promise<StoreStage> {
  const stage = await StoreStage.open(kind);
  for (const userId of [alice, bob]) {
    await stage.commit(userId, [write("a.md", "one"), write("b.md", "22"), write("n.md", "333", "notes")]);
    await stage.commit(userId, [trash("b.md", "trash/b.1.md")]);
  }
  await stage.commitStores([writeIn(own, "a.md", "4444")], { by: alice });
  await stage.commitStores([writeIn(storeA, "a.md", "kept")], { by: bob });
  return stage;
}

function hold<Result>(
  { store }: StoreStage,
  work: (held: HeldToErase) => Promise<Result>,
  options: Partial<HoldToEraseOptions> = {},
): Promise<Result> {
  return store.holdToErase(alice, { to: "remove", until: performance.now() + 30_000, ...options }, work);
}

async function erase(stage: StoreStage, erasedMs = 1): Promise<void> {
  const erased = await hold(stage, (held) => held.erase(erasedMs));
  expect(await stage.store.erased.removeFiles(erased)).toEqual([]);
  await stage.store.erased.forget(erased);
}

const all = (stage: StoreStage, userId: string): Promise<unknown> =>
  stage.hold(userId, async ({ reader }) => {
    const scopes = await reader.scopes();
    return Promise.all(scopes.map(async (scope) => (await reader.survey(scope)).files.map(({ path }) => path)));
  });

describe.each(storeKinds)("%s", (kind) => {
  test.for(["remove", "read"] as const)("everything goes, held to %s, and nobody else loses anything", async (how) => {
    await using stage = await filled(kind);
    const before = [await all(stage, bob), await entriesOf(stage, [storeA])];
    const erased = await hold(stage, (held) => held.erase(7), { to: how });
    expect(erased).toMatchObject({ store: own, erasedMs: 7 });
    expect(await all(stage, alice)).toEqual([]);
    expect(await stage.ask(alice, ["read", "memory", "a.md"], ["list", "memory", "trash/"])).toEqual([
      { value: null },
      { value: [] },
    ]);
    expect(await entriesOf(stage, [own])).toEqual({});
    expect(await stage.store.users()).toEqual([bob]);
    expect(await stage.store.shared.ids()).toEqual([storeA]);
    expect(await stage.store.erased.removeFiles(erased)).toEqual([]);
    await stage.store.erased.forget(erased);
    expect(await stage.store.erased.list()).toEqual([]);
    expect(await stage.store.strays()).toEqual([]);
    expect([await all(stage, bob), await entriesOf(stage, [storeA])]).toEqual(before);
  });

  test("its contents are counted by scope, also when it only looks", async () => {
    await using stage = await filled(kind);
    for (const how of ["look", "remove"] as const) {
      const contents = await hold(stage, (held) => held.contents(), { to: how });
      const counted = contents.flatMap(({ scope, files, bytes }) => (scope === null ? [] : [{ scope, files, bytes }]));
      expect(counted.toSorted((a, b) => (a.scope < b.scope ? -1 : 1))).toEqual([
        { scope: "memory", files: 2, bytes: 5 },
        { scope: "notes", files: 1, bytes: 3 },
        { scope: scopeOfStore(own), files: 1, bytes: 4 },
      ]);
    }
    const looking = hold(stage, (held) => held.erase(1), { to: "look" });
    await expect(looking).rejects.toThrow(RangeError);
    expect(await entriesOf(stage, [own])).not.toEqual({});
  });

  test("work that fails erases nothing", async () => {
    await using stage = await filled(kind);
    const before = await all(stage, alice);
    await expect(hold(stage, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(
      hold(stage, (held) => held.contents(), { signal: AbortSignal.abort(new Error("off")) }),
    ).rejects.toThrow("off");
    expect(await all(stage, alice)).toEqual(before);
    await stage.commit(alice, [write("a.md", "usable")]);
  });

  test("nobody has nothing: nothing is there, and nothing is made", async () => {
    await using stage = await StoreStage.open(kind);
    expect(await hold(stage, (held) => held.contents())).toEqual([]);
    await erase(stage);
    expect(await stage.store.users()).toEqual([]);
    expect(await stage.store.erased.list()).toEqual([]);
  });

  test("who waits for the user or the store begins anew, in the same opening and in another", async () => {
    await using stage = await filled(kind);
    const other = stage.definition.open(() => {});
    const events = new EventEmitter();
    const [begun, go] = [once(events, "begun"), once(events, "go")];
    const erasing = hold(stage, async (held) => {
      events.emit("begun");
      await go;
      return await held.erase(1);
    });
    await begun;
    const found: unknown[] = [];
    const until = performance.now() + 30_000;
    const waiting = [stage.store, other].flatMap((store, at) => [
      store.hold(alice, { writes: true, until }, async (held) => {
        found.push(await held.reader.bytesOf("memory", "a.md"));
        await held.commit([write(`new-${at}.md`, "new")], held.reader.seen);
      }),
      store.shared.hold([own], { writes: true, until }, async (held) => {
        found.push(await textOf(held, own, "a.md"));
        await held.commit({ by: alice, changes: [writeIn(own, `new-${at}.md`, "new")], seen: held.seen });
      }),
    ]);
    events.emit("go");
    const erased = await erasing;
    await Promise.all(waiting);
    expect(found).toEqual([null, null, null, null]);
    await stage.store.erased.removeFiles(erased);
    await stage.store.erased.forget(erased);
    expect(await all(stage, alice)).toEqual([["new-0.md", "new-1.md"]]);
    expect(Object.keys(await entriesOf(stage, [own])).map((path) => path.split("/")[1])).toEqual([
      "new-0.md",
      "new-1.md",
    ]);
    expect((await stage.store.shared.owners()).toSorted()).toContain(alice);
    await other.close();
  });

  test("it waits its turn: BUSY while others hold the user or the store, and then nothing is erased", async () => {
    await using stage = await filled(kind);
    const busy = (): Promise<unknown> => hold(stage, (held) => held.erase(1), { until: performance.now() + 20 });
    await stage.hold(alice, async () => {
      await expect(busy()).rejects.toMatchObject({ code: "BUSY" });
    });
    await stage.holdStores([own], async () => {
      await expect(busy()).rejects.toMatchObject({ code: "BUSY" });
    });
    expect(await stage.ask(alice, ["sizeOf", "memory", "a.md"])).toEqual([{ value: 3 }]);
    expect(await entriesOf(stage, [own])).not.toEqual({});
    await erase(stage);
  });

  test("who reads the store without a lock while it is erased sees all of it, or nothing", async () => {
    await using stage = await filled(kind);
    const runs: (string | null)[] = [];
    const read = await stage.holdStores(
      [own],
      async (held) => {
        const first = await textOf(held, own, "a.md");
        if (runs.length === 0) await erase(stage);
        runs.push(first);
        return first;
      },
      { writes: false },
    );
    // A database shows one moment to the end.
    expect({ read, runs }).toEqual(
      kind === "postgresStore" ? { read: "4444", runs: ["4444"] } : { read: null, runs: ["4444", null] },
    );
  });

  test("a store that is made anew is not mistaken for the one that was read", async () => {
    await using stage = await filled(kind);
    const runs: (string | null)[] = [];
    await stage.holdStores(
      [own],
      async (held) => {
        runs.push(await textOf(held, own, "a.md"));
        if (runs.length > 1) return;
        await erase(stage);
        await stage.commitStores([writeIn(own, "a.md", "anew")], { by: alice });
      },
      { writes: false },
    );
    expect(runs).toEqual(kind === "postgresStore" ? ["4444"] : ["4444", "anew"]);
  });

  test("who reads by a folder that a person has made, which has no lock, sees all of it or nothing", async () => {
    if (kind !== "fileStore") return;
    await using stage = await StoreStage.open(kind);
    for (const place of ["users/alice/memory", `stores/${own}/entries`]) {
      mkdirSync(join(stage.dataDir, place), { recursive: true });
      writeFileSync(join(stage.dataDir, place, "a.md"), "by hand");
    }
    const runs: unknown[] = [];
    const look = async (read: Promise<unknown>): Promise<void> => {
      runs.push(await read);
      if (runs.length === 1) await erase(stage);
    };
    await stage.hold(alice, ({ reader }) => look(reader.bytesOf("memory", "a.md")), { writes: false });
    expect(runs).toEqual([Buffer.from("by hand"), null]);
    runs.length = 0;
    mkdirSync(join(stage.dataDir, `stores/${own}/entries`), { recursive: true });
    writeFileSync(join(stage.dataDir, `stores/${own}/entries/a.md`), "by hand");
    await stage.holdStores([own], (held) => look(textOf(held, own, "a.md")), { writes: false });
    expect(runs).toEqual(["by hand", null]);
  });

  test("a change set that is based on an erased store is not committed", async () => {
    await using stage = await filled(kind);
    const runs: (string | null)[] = [];
    await stage.holdStores(
      [own, storeB],
      async (held) => {
        const read = await textOf(held, own, "a.md");
        if (runs.length === 0) await erase(stage);
        runs.push(read);
        await held.commit({ by: bob, changes: [writeIn(storeB, "copy.md", `${read}`)], seen: held.seen });
      },
      { onlyRead: [own] },
    );
    expect(runs).toEqual(["4444", null]);
    expect(await entriesOf(stage, [storeB])).toEqual({ "2/copy.md": "null" });
  });

  test("hints to the user and of the user's store are forgotten, but for those of later grants", async () => {
    await using stage = await StoreStage.open(kind);
    const { shared } = stage.store;
    const hinted = async (id: StoreId): Promise<string[]> => (await shared.hintsOf(id)).map(({ store }) => store);
    await stage.commitStores([], { grants: granting(storeA, "x", { granted: [to(own, 5)] }) });
    await stage.commitStores([], { grants: granting(storeB, "x", { granted: [to(own, 6)] }) });
    await stage.commitStores([], {
      by: alice,
      grants: granting(own, "x", { granted: [to(storeA, 5), to(storeB, 6)] }),
    });
    await shared.leave(own, storeA, true);
    await shared.leave(storeA, own, true);
    await shared.forgetHints(own, 5);
    expect([await hinted(own), await hinted(storeA), await hinted(storeB)]).toEqual([[storeB], [], [own]]);
    // What was left out is forgotten as well: it does not count for a later grant.
    await stage.commitStores([], { grants: granting(storeA, "y", { granted: [to(own, 7)] }) });
    expect((await shared.hintsOf(own)).map(({ isLeft }) => isLeft)).toEqual([false, false]);
    await shared.forgetHints(own, 7);
    expect([await hinted(own), await hinted(storeA), await hinted(storeB)]).toEqual([[], [], []]);
  });
});
