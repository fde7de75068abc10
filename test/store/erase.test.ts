/** Erasing a user: everything of the user goes, and nothing else; later calls begin anew. */
import { EventEmitter, once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ownStoreOf, scopeOfStore } from "../stage/store.ts";
import type { HeldStores, HeldToErase, HoldToEraseOptions, StoreId, UserId } from "../stage/store.ts";
import { Home, newStoreId, openEngines, soon, textOf, trash, write, writeIn } from "./store-stage.ts";

let made = 0;

/** Who is erased, another user, and the stores of both. */
interface People {
  readonly alice: UserId;
  readonly bob: UserId;
  readonly own: StoreId;
  readonly others: StoreId;
}

function people(): People {
  const [alice, bob] = ["alice", "bob"].map((name) => `${name}-${++made}` as UserId) as [UserId, UserId];
  return { alice, bob, own: ownStoreOf(alice), others: newStoreId() };
}

describe.each(await openEngines())("$kind", (stage) => {
  async function filled(): Promise<People> {
    const found = people();
    for (const userId of [found.alice, found.bob]) {
      await stage.commit(userId, [write("a.md", "one"), write("b.md", "22"), write("n.md", "333", "notes")]);
      await stage.commit(userId, [trash("b.md", "trash/b.1.md")]);
    }
    await stage.commitStores([writeIn(found.own, "a.md", "4444")], { by: found.alice });
    await stage.commitStores([writeIn(found.others, "a.md", "kept")], { by: found.bob });
    return found;
  }

  const hold = <Result>(
    userId: UserId,
    work: (held: HeldToErase) => Promise<Result>,
    options: Partial<HoldToEraseOptions> = {},
  ): Promise<Result> => stage.store.holdToErase(userId, { to: "remove", ...soon(), ...options }, work);

  async function erase(userId: UserId, to: "remove" | "read" = "remove"): Promise<void> {
    const erased = await hold(userId, (held) => held.erase(7), { to });
    expect(erased).toMatchObject({ store: ownStoreOf(userId), erasedMs: 7 });
    expect(await stage.store.erased.removeFiles(erased)).toEqual([]);
    await stage.store.erased.forget(erased, true);
  }

  /** The texts of all scopes of a user and of a store. */
  async function all(userId: UserId, store: StoreId): Promise<unknown> {
    const scopes = await stage.hold(userId, async ({ reader }) =>
      Promise.all(
        (await reader.scopes()).map(async (scope) => (await reader.survey(scope)).files.map(({ path }) => path)),
      ),
    );
    return [scopes, await stage.entriesOf(store)];
  }

  test.for(["remove", "read"] as const)("everything goes, held to %s, and nobody else loses anything", async (how) => {
    const { alice, bob, own, others } = await filled();
    const before = await all(bob, others);
    await erase(alice, how);
    expect(await all(alice, own)).toEqual([[], {}]);
    expect(await stage.ask(alice, ["read", "memory", "a.md"], ["list", "memory", "trash/"])).toEqual([
      { value: null },
      { value: [] },
    ]);
    expect(await stage.store.users()).toEqual(expect.not.arrayContaining([alice]));
    expect(await stage.store.stores()).toEqual(expect.not.arrayContaining([own]));
    expect(await stage.store.erased.list()).toEqual([]);
    expect(await stage.store.strays()).toEqual([]);
    expect(await all(bob, others)).toEqual(before);
  });

  test("its contents are counted by scope, also when it only looks, which erases nothing", async () => {
    const { alice, own } = await filled();
    for (const to of ["look", "remove"] as const) {
      const contents = await hold(alice, (held) => held.contents(), { to });
      const counted = contents.flatMap(({ scope, files, bytes }) => (scope === null ? [] : [{ scope, files, bytes }]));
      expect(counted.toSorted((a, b) => (a.scope < b.scope ? -1 : 1))).toEqual([
        { scope: "memory", files: 2, bytes: 5 },
        { scope: "notes", files: 1, bytes: 3 },
        { scope: scopeOfStore(own), files: 1, bytes: 4 },
      ]);
    }
    await expect(hold(alice, (held) => held.erase(1), { to: "look" })).rejects.toThrow(RangeError);
    expect(await stage.entriesOf(own)).toEqual({ "1/a.md": "4444" });
  });

  test("work that fails, or is cancelled, erases nothing", async () => {
    const { alice, own } = await filled();
    const before = await all(alice, own);
    await expect(hold(alice, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const signal = AbortSignal.abort(new Error("off"));
    await expect(hold(alice, (held) => held.erase(1), { signal })).rejects.toThrow("off");
    expect(await all(alice, own)).toEqual(before);
    await stage.commit(alice, [write("a.md", "usable")]);
  });

  test("who waits for the user or the store begins anew, in the same opening and in another", async () => {
    const { alice, own } = await filled();
    const other = stage.openBeside();
    const events = new EventEmitter();
    const [begun, go] = [once(events, "begun"), once(events, "go")];
    const erasing = hold(alice, async (held) => {
      events.emit("begun");
      await go;
      return await held.erase(1);
    });
    await begun;
    const found: unknown[] = [];
    const waiting = [stage, other].flatMap((each, at) => [
      each.hold(alice, async (held) => {
        found.push(await held.reader.bytesOf("memory", "a.md"));
        await held.commit([write(`new-${at}.md`, "new")], held.reader.seen);
      }),
      each.holdStores([own], async (held) => {
        found.push(await textOf(held, own, "a.md"));
        await held.commit(own, { by: alice, changes: [writeIn(own, `new-${at}.md`, "new")], seen: held.seen });
      }),
    ]);
    events.emit("go");
    const erased = await erasing;
    await Promise.all(waiting);
    // What others change meanwhile makes it begin once more.
    expect(found.length).toBeGreaterThanOrEqual(4);
    expect(found.filter((text) => text !== null)).toEqual([]);
    await stage.store.erased.removeFiles(erased);
    await stage.store.erased.forget(erased, true);
    expect(await all(alice, own)).toEqual([[["new-0.md", "new-1.md"]], { "1/new-0.md": "new", "1/new-1.md": "new" }]);
    expect(await stage.store.users()).toContain(alice);
    await other.store.close();
  });

  test("it waits its turn: BUSY while others hold the user or the store, and then nothing is erased", async () => {
    const { alice, own } = await filled();
    const before = await all(alice, own);
    const expectBusy = (): Promise<void> =>
      expect(hold(alice, (held) => held.erase(1), soon(20))).rejects.toMatchObject({ code: "BUSY" });
    await stage.hold(alice, expectBusy);
    await stage.holdStores([own], expectBusy);
    expect(await all(alice, own)).toEqual(before);
    await erase(alice);
  });

  test.for([
    { name: "sees all of it or nothing", isMadeAnew: false },
    { name: "does not mistake one that is made anew for it", isMadeAnew: true },
  ])("who reads the store without a lock while it is erased $name", async ({ isMadeAnew }) => {
    const { alice, own } = await filled();
    const runs: (string | null)[] = [];
    const work = async (held: HeldStores): Promise<void> => {
      runs.push(await textOf(held, own, "a.md"));
      if (runs.length > 1) return;
      await erase(alice);
      if (isMadeAnew) await stage.commitStores([writeIn(own, "a.md", "anew")], { by: alice });
    };
    await stage.holdStores([own], work, { writes: false });
    // A database shows one moment to the end.
    expect(runs).toEqual(stage.kind === "postgresStore" ? ["4444"] : ["4444", isMadeAnew ? "anew" : null]);
  });

  test("a change set that is based on an erased store is not committed", async () => {
    const { alice, bob, own, others } = await filled();
    const runs: (string | null)[] = [];
    const work = async (held: HeldStores): Promise<void> => {
      runs.push(await textOf(held, own, "a.md"));
      if (runs.length === 1) await erase(alice);
      const changes = [writeIn(others, "copy.md", `${runs.at(-1)}`)];
      await held.commit(others, { by: bob, changes, seen: held.seen });
    };
    await stage.holdStores([own, others], work, { onlyRead: [own] });
    expect(runs).toEqual(["4444", null]);
    expect(await stage.entriesOf(others)).toEqual({ "1/a.md": "kept", "1/copy.md": "null" });
  });

  if (stage.kind !== "fileStore") return;

  test("who reads by a folder that a person has made, which has no lock, sees all of it or nothing", async () => {
    const { alice, own } = people();
    for (const home of [new Home(stage, "user", alice), new Home(stage, "store", own)]) {
      mkdirSync(join(home.folder, home.inside), { recursive: true });
      writeFileSync(join(home.folder, home.inside, "a.md"), "by hand");
      const runs: unknown[] = [];
      const look = async ({ reader }: Parameters<Parameters<Home["hold"]>[0]>[0]): Promise<void> => {
        runs.push(await reader.bytesOf(home.scope, "a.md"));
        if (runs.length === 1) await erase(alice);
      };
      await home.hold(look, { writes: false });
      expect(runs).toEqual([Buffer.from("by hand"), null]);
    }
  });
});
