/** Holding several shared stores: who waits for whom, and what ends a wait. */
import { EventEmitter, once } from "node:events";

import { describe, expect, test } from "vitest";

import type { HeldStores, StoreHoldOptions, StoreId } from "../stage/store.ts";
import { entriesOf, storeA, storeB, storeC, textOf, writeIn } from "./store-files.ts";
import { principal, storeKinds, StoreStage } from "./store-stage.ts";

/** Holds stores until `release` is called. */
async function heldBy(
  stage: StoreStage,
  ids: readonly StoreId[],
  options: Partial<StoreHoldOptions> = {},
): Promise<{ release: () => Promise<void> }> {
  const events = new EventEmitter();
  const [begun, ended] = [once(events, "begun"), once(events, "ended")];
  const work = async (): Promise<void> => {
    events.emit("begun");
    await ended;
  };
  const hold = stage.holdStores(ids, work, options);
  await begun;
  const release = async (): Promise<void> => {
    events.emit("ended");
    await hold;
  };
  return { release };
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Appends a letter to a file of each store. A letter is lost if another call writes at the same time. */
async function appendTo(held: HeldStores, ids: readonly StoreId[], letter: string): Promise<void> {
  const before = await Promise.all(ids.map((id) => textOf(held, id, "a.md")));
  await nextTurn();
  const changes = ids.map((id, at) => writeIn(id, "a.md", (before[at] ?? "") + letter));
  await held.commit({ by: principal, changes, seen: held.seen });
}

describe.each(storeKinds)("%s", (kind) => {
  async function stageWithStores(): Promise<StoreStage> {
    const stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", ""), writeIn(storeB, "a.md", "")]);
    return stage;
  }

  test("calls that name the same stores in different orders never wait for each other in a circle", async () => {
    await using stage = await stageWithStores();
    const sets = [
      [storeA, storeB],
      [storeB, storeA],
      [storeB, storeC, storeA],
      [storeC, storeB],
    ];
    const calls = Array.from({ length: 48 }, (_, at) => sets[at % sets.length] ?? []);
    await Promise.all(calls.map((ids) => stage.holdStores(ids, (held) => appendTo(held, ids, "x"))));
    expect(await entriesOf(stage, [storeA, storeB, storeC])).toEqual({
      "1/a.md": "x".repeat(36),
      "2/a.md": "x".repeat(48),
      "3/a.md": "x".repeat(24),
    });
  });

  test("a store that is named twice is held once", async () => {
    await using stage = await stageWithStores();
    await stage.holdStores([storeA, storeA], (held) => appendTo(held, [storeA], "x"));
    expect(await entriesOf(stage)).toEqual({ "1/a.md": "x", "2/a.md": "" });
  });

  test("a writer waits for another writer of one of its stores, and for nobody else", async () => {
    await using stage = await stageWithStores();
    const first = await heldBy(stage, [storeB]);
    const order: string[] = [];
    const waiting = stage.holdStores([storeA, storeB], (held) => appendTo(held, [storeB], "x"));
    const done = waiting.then(() => order.push("waiting"));
    await stage.holdStores([storeC], (held) => appendTo(held, [storeC], "x"));
    order.push("other store");
    await first.release();
    await done;
    expect(order).toEqual(["other store", "waiting"]);
  });

  test("a writing call does not lock what it only reads, and runs again if that has changed", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeB, "b.md", "one")]);
    const seen: (string | null)[] = [];
    const work = async (held: HeldStores): Promise<void> => {
      const text = await textOf(held, storeB, "b.md");
      seen.push(text);
      if (seen.length === 1) await stage.commitStores([writeIn(storeB, "b.md", "two")]);
      await held.commit({ by: principal, changes: [writeIn(storeA, "a.md", `read ${text}`)], seen: held.seen });
    };
    await stage.holdStores([storeA, storeB], work, { onlyRead: [storeB] });
    expect(seen).toEqual(["one", "two"]);
    expect(await entriesOf(stage)).toEqual({ "1/a.md": "read two", "2/b.md": "two" });
    const writesIt = stage.holdStores(
      [storeA, storeB],
      (held) => held.commit({ by: principal, changes: [writeIn(storeB, "b.md", "three")], seen: [] }),
      { onlyRead: [storeB] },
    );
    await expect(writesIt).rejects.toThrow(RangeError);
  });

  test("simultaneous first commits to the same stores lose nothing", async () => {
    await using stage = await StoreStage.open(kind);
    const ids = [storeA, storeB];
    const letters = ["a", "b", "c", "d"];
    await Promise.all(letters.map((each) => stage.holdStores(ids, (held) => appendTo(held, ids, each))));
    const [found] = Object.values(await entriesOf(stage)) as string[];
    expect(Array.from(found ?? "").toSorted()).toEqual(letters);
    expect(await entriesOf(stage)).toEqual({ "1/a.md": found, "2/a.md": found });
  });

  test("work runs again if a store that did not exist has been made meanwhile", async () => {
    await using stage = await stageWithStores();
    const other = stage.definition.open(() => {});
    const seen: (string | null)[] = [];
    await stage.holdStores([storeA, storeC], async (held) => {
      seen.push(await textOf(held, storeC, "a.md"));
      const options = { writes: true, until: performance.now() + 20 };
      const changes = [writeIn(storeC, "a.md", "made meanwhile")];
      const intruding = other.shared.hold([storeC], options, (each) =>
        each.commit({ by: principal, changes, seen: [] }),
      );
      // Only a folder cannot be locked before it exists.
      if (kind !== "fileStore") await expect(intruding).rejects.toMatchObject({ code: "BUSY" });
      else if (seen.length === 1) await intruding;
      else await expect(intruding).rejects.toMatchObject({ code: "BUSY" });
      await held.commit({ by: principal, changes: [writeIn(storeA, "a.md", "x")], seen: held.seen });
    });
    expect(seen).toEqual(kind !== "fileStore" ? [null] : [null, "made meanwhile"]);
    await other.close();
  });

  test("a wait that is too long is BUSY, and leaves nothing locked", async () => {
    await using stage = await stageWithStores();
    const first = await heldBy(stage, [storeB]);
    const until = performance.now() + 20;
    const impatient = stage.holdStores([storeA, storeB], async () => {}, { until });
    await expect(impatient).rejects.toMatchObject({
      code: "BUSY",
      message: expect.stringMatching(/store.* in use for \d+ ms/),
    });
    await stage.commitStores([writeIn(storeA, "a.md", "free")]);
    await first.release();
    await stage.commitStores([writeIn(storeA, "a.md", "next"), writeIn(storeB, "a.md", "next")]);
  });

  test("a cancelled wait throws the signal's reason, and leaves nothing locked", async () => {
    await using stage = await stageWithStores();
    const first = await heldBy(stage, [storeB]);
    const controller = new AbortController();
    const waiting = stage.holdStores([storeA, storeB], async () => {}, { signal: controller.signal });
    controller.abort(new Error("no more"));
    await expect(waiting).rejects.toThrow("no more");
    await stage.commitStores([writeIn(storeA, "a.md", "free")]);
    await first.release();
  });

  test("work that fails releases all stores and passes on its error", async () => {
    await using stage = await stageWithStores();
    for (const writes of [true, false]) {
      const failing = stage.holdStores([storeA, storeB], () => Promise.reject(new Error("failed")), { writes });
      await expect(failing).rejects.toThrow("failed");
    }
    await stage.commitStores([writeIn(storeA, "a.md", "x"), writeIn(storeB, "a.md", "y")]);
  });

  test("a hold of no stores runs its work", async () => {
    await using stage = await StoreStage.open(kind);
    expect(await stage.holdStores([], async () => "done")).toBe("done");
    expect(await stage.holdStores([], async () => "done", { writes: false })).toBe("done");
  });

  test("a signal that is already aborted holds nothing", async () => {
    await using stage = await stageWithStores();
    const reason = new Error("cancelled");
    const held = stage.holdStores([storeA], () => Promise.resolve("done"), { signal: AbortSignal.abort(reason) });
    await expect(held).rejects.toBe(reason);
  });
});
