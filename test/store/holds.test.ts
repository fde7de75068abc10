/** Holding a user: who holds, who waits, and what ends a wait. */
import { EventEmitter, once } from "node:events";

import { describe, expect, test } from "vitest";

import type { Store, UserId } from "../stage/store.ts";
import { storeKinds, StoreStage, write } from "./store-stage.ts";

const alice = "alice" as UserId;

/** Holds a user until `release` is called. */
async function heldBy(store: Store, userId = alice): Promise<{ release: () => Promise<void> }> {
  const events = new EventEmitter();
  const [begun, ended] = [once(events, "begun"), once(events, "ended")];
  const hold = store.hold(userId, { writes: true, until: performance.now() + 30_000 }, async () => {
    events.emit("begun");
    await ended;
  });
  await begun;
  const release = async (): Promise<void> => {
    events.emit("ended");
    await hold;
  };
  return { release };
}

/** Reads a file and appends a letter. The letter is lost if another call writes at the same time. */
async function append(store: Store, userId: string, letter: string): Promise<void> {
  await store.hold(userId as UserId, { writes: true, until: performance.now() + 30_000 }, async (held) => {
    const before = Buffer.from((await held.reader.bytesOf("memory", "a.md")) ?? []).toString();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await held.commit([write("a.md", before + letter)], held.reader.seen);
  });
}

describe.each(storeKinds)("%s", (kind) => {
  async function stageWithAlice(): Promise<StoreStage> {
    const stage = await StoreStage.open(kind);
    await stage.commit(alice, [write("a.md", "")]);
    return stage;
  }

  test("one call at a time holds a user, in order of arrival, and other users do not wait", async () => {
    await using stage = await stageWithAlice();
    const first = await heldBy(stage.store);
    const letters = ["b", "c", "d", "e"];
    const order: string[] = [];
    const waiting = letters.map((letter) => append(stage.store, alice, letter).then(() => order.push(letter)));
    await append(stage.store, "bob", "x");
    expect(order).toEqual([]);
    await first.release();
    await Promise.all(waiting);
    expect(order.toSorted()).toEqual(letters);
    const read = await stage.ask(alice, ["read", "memory", "a.md"]);
    expect(read).toEqual([{ value: order.join("") }]);
  });

  test("two openings of one store exclude each other", async () => {
    await using stage = await stageWithAlice();
    const other = stage.definition.open(() => {});
    const first = await heldBy(other);
    const until = performance.now() + 20;
    await expect(stage.hold(alice, async () => {}, { until })).rejects.toMatchObject({ code: "BUSY" });
    await first.release();
    await Promise.all(["b", "c", "d"].map((letter, at) => append(at === 1 ? other : stage.store, alice, letter)));
    expect(await stage.ask(alice, ["sizeOf", "memory", "a.md"])).toEqual([{ value: 3 }]);
    await other.close();
    await stage.commit(alice, [write("a.md", "still open")]);
  });

  test("simultaneous first calls of a new user lose nothing", async () => {
    await using stage = await StoreStage.open(kind);
    await Promise.all(["a", "b", "c"].map((letter) => append(stage.store, "new", letter)));
    expect(await stage.ask("new", ["sizeOf", "memory", "a.md"])).toEqual([{ value: 3 }]);
  });

  test("eight users in parallel, thirty calls each, lose nothing", async () => {
    await using stage = await StoreStage.open(kind);
    const users = Array.from({ length: 8 }, (_, at) => `user-${at}`);
    await Promise.all(
      users.map(async (userId) => {
        for (let call = 0; call < 30; call++) await append(stage.store, userId, String(call % 10));
      }),
    );
    for (const userId of users) {
      expect(await stage.ask(userId, ["read", "memory", "a.md"])).toEqual([{ value: "0123456789".repeat(3) }]);
    }
    expect((await stage.store.users()).toSorted()).toEqual(users);
  });

  test("a wait that is too long is BUSY, and leaves the queue", async () => {
    await using stage = await stageWithAlice();
    const first = await heldBy(stage.store);
    let hasBegun = false;
    const impatient = stage.hold(
      alice,
      async () => {
        hasBegun = true;
      },
      { until: performance.now() + 20 },
    );
    await expect(impatient).rejects.toMatchObject({
      code: "BUSY",
      message: expect.stringMatching(/in use for \d+ ms/),
    });
    await first.release();
    await stage.commit(alice, [write("a.md", "next")]);
    expect(hasBegun).toBe(false);
  });

  test("a cancelled wait throws the signal's reason, and leaves the queue", async () => {
    await using stage = await stageWithAlice();
    const first = await heldBy(stage.store);
    const controller = new AbortController();
    const waiting = stage.hold(alice, async () => {}, { signal: controller.signal });
    const behind = stage.commit(alice, [write("a.md", "behind")]);
    controller.abort(new Error("no more"));
    await expect(waiting).rejects.toThrow("no more");
    await first.release();
    await behind;
    expect(await stage.ask(alice, ["read", "memory", "a.md"])).toEqual([{ value: "behind" }]);
  });

  test("work that fails releases the user and passes on its error", async () => {
    await using stage = await stageWithAlice();
    const failing = stage.hold(alice, () => Promise.reject(new Error("the guest failed")));
    await expect(failing).rejects.toThrow("the guest failed");
    await stage.commit(alice, [write("a.md", "next")]);
    expect(await stage.hold(alice, async () => "a result")).toBe("a result");
  });

  test("a user's first part has all scopes that no other part names, and is not mounted", async () => {
    await using stage = await stageWithAlice();
    const [first, ...others] = await stage.store.parts(alice);
    expect(first).toEqual({ scopes: [] });
    expect(others).toEqual([]);
    expect(stage.store.isApart(alice, ["memory", "notes"])).toBe(false);
  });

  test("a signal that is already aborted holds nobody", async () => {
    await using stage = await stageWithAlice();
    const reason = new Error("cancelled");
    const held = stage.hold(alice, () => Promise.resolve("done"), { signal: AbortSignal.abort(reason) });
    await expect(held).rejects.toBe(reason);
  });
});
