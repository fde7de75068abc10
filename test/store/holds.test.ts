/** Holding a home, or several: who holds, who waits for whom, what ends a wait, and what a hold that only reads sees. */
import { EventEmitter, once } from "node:events";

import { describe, expect, test } from "vitest";

import type { HeldStores, HoldOptions, StoreId } from "../stage/store.ts";
import {
  commitIn,
  homesIn,
  newStoreId,
  nextTurn,
  openEngines,
  principal,
  soon,
  textIn,
  textOf,
  write,
  writeIn,
} from "./store-stage.ts";
import type { Home, StoreStage } from "./store-stage.ts";

interface Held {
  readonly release: () => Promise<void>;
}

/** Runs a hold's work until `release` is called. */
async function untilReleased(hold: (work: () => Promise<void>) => Promise<void>): Promise<Held> {
  const events = new EventEmitter();
  const [begun, ended] = [once(events, "begun"), once(events, "ended")];
  const holding = hold(async () => {
    events.emit("begun");
    await ended;
  });
  await begun;
  return {
    release: async () => {
      events.emit("ended");
      await holding;
    },
  };
}

const engines = await openEngines();

const holding = (home: Home, by?: StoreStage): Promise<Held> => untilReleased((work) => home.hold(work, {}, by));

/** Reads a file and appends a letter. The letter is lost if another call writes at the same time. */
const append = (home: Home, letter: string, by?: StoreStage): Promise<void> =>
  home.hold(
    async (each) => {
      const before = (await textIn(each.reader, home.scope, "a.md")) ?? "";
      await nextTurn();
      await each.commit([write("a.md", before + letter)]);
    },
    {},
    by,
  );

describe.each(homesIn(engines))("$name", ({ stage, newHome }) => {
  async function emptyFile(): Promise<Home> {
    const home = newHome();
    await home.commit([write("a.md", "")]);
    return home;
  }

  test("one call at a time holds it, all get their turn, and other homes do not wait", async () => {
    const home = await emptyFile();
    const first = await holding(home);
    const letters = ["b", "c", "d", "e"];
    const order: string[] = [];
    const waiting = letters.map((letter) => append(home, letter).then(() => order.push(letter)));
    await append(newHome(), "x");
    expect(order).toEqual([]);
    await first.release();
    await Promise.all(waiting);
    expect(order.toSorted()).toEqual(letters);
    expect(await home.text("a.md")).toBe(order.join(""));
  });

  test("two openings of one store exclude each other", async () => {
    const home = await emptyFile();
    const other = stage.openBeside();
    const first = await holding(home, other);
    await expect(home.hold(async () => {}, soon(20))).rejects.toMatchObject({ code: "BUSY" });
    await first.release();
    await Promise.all(["b", "c", "d"].map((letter, at) => append(home, letter, at === 1 ? other : stage)));
    expect(await home.text("a.md")).toHaveLength(3);
    await other.store.close();
    await home.commit([write("a.md", "still open")]);
  });

  test("a wait that is too long is BUSY, and one that is cancelled throws the reason; both leave the queue", async () => {
    const home = await emptyFile();
    const first = await holding(home);
    let hasBegun = false;
    const begin = async (): Promise<void> => void (hasBegun = true);
    const message = expect.stringMatching(/in use for \d+ ms/);
    await expect(home.hold(begin, soon(20))).rejects.toMatchObject({ code: "BUSY", message });
    const controller = new AbortController();
    const waiting = home.hold(begin, { signal: controller.signal });
    const behind = home.commit([write("a.md", "behind")]);
    controller.abort(new Error("no more"));
    await expect(waiting).rejects.toThrow("no more");
    await first.release();
    await behind;
    expect([await home.text("a.md"), hasBegun]).toEqual(["behind", false]);
  });

  test("work that fails releases it and passes on its error", async () => {
    const home = await emptyFile();
    for (const writes of [true, false]) {
      const failing = home.hold(() => Promise.reject(new Error("the guest failed")), { writes });
      await expect(failing).rejects.toThrow("the guest failed");
    }
    await home.commit([write("a.md", "next")]);
    expect(await home.hold(async () => "a result")).toBe("a result");
  });
});

async function appendTo(held: HeldStores, ids: readonly StoreId[], letter: string): Promise<void> {
  const before = await Promise.all(ids.map((id) => textOf(held, id, "a.md")));
  await nextTurn();
  const changes = ids.map((id, at) => writeIn(id, "a.md", (before[at] ?? "") + letter));
  await commitIn(held, changes);
}

describe.each(engines)("several stores in a $kind", (stage) => {
  /** A database shows each reader one moment, so it never has to read again. */
  const isOfOneMoment = stage.kind === "postgresStore";
  const reading = { writes: false };

  /** Two that have an empty file, and one that nobody has made. */
  async function threeStores(): Promise<[StoreId, StoreId, StoreId]> {
    const [a, b, c] = [newStoreId(), newStoreId(), newStoreId()];
    await stage.commitStores([writeIn(a, "a.md", ""), writeIn(b, "a.md", "")]);
    return [a, b, c];
  }

  const heldBy = (...ids: StoreId[]): Promise<Held> => untilReleased((work) => stage.holdStores(ids, work));

  const commitTo = (id: StoreId, text: string, options: Partial<HoldOptions> = {}, by = stage): Promise<void> =>
    by.holdStores(
      [id],
      (each) => each.commit(id, { by: principal, changes: [writeIn(id, "a.md", text)], seen: [] }),
      options,
    );

  test("calls that name the same stores in different orders never wait for each other in a circle", async () => {
    const [a, b, c] = await threeStores();
    const sets = [
      [a, b],
      [b, a],
      [b, c, a],
      [c, b],
      [a, a],
    ];
    const calls = Array.from({ length: 50 }, (_, at) => sets[at % sets.length] ?? []);
    await Promise.all(calls.map((ids) => stage.holdStores(ids, (held) => appendTo(held, [...new Set(ids)], "x"))));
    expect(await stage.entriesOf(a, b, c)).toEqual({
      "1/a.md": "x".repeat(40),
      "2/a.md": "x".repeat(40),
      "3/a.md": "x".repeat(20),
    });
  });

  test("a wait for one of them that ends, in whichever way, leaves nothing locked", async () => {
    const [a, b] = await threeStores();
    const first = await heldBy(b);
    const message = expect.stringMatching(/store.* in use for \d+ ms/);
    const impatient = stage.holdStores([a, b], async () => {}, soon(20));
    await expect(impatient).rejects.toMatchObject({ code: "BUSY", message });
    await commitTo(a, "free");
    const controller = new AbortController();
    const waiting = stage.holdStores([a, b], async () => {}, { signal: controller.signal });
    controller.abort(new Error("no more"));
    await expect(waiting).rejects.toThrow("no more");
    await commitTo(a, "free");
    await first.release();
    await stage.commitStores([writeIn(a, "a.md", "next"), writeIn(b, "a.md", "next")]);
  });

  test("a writing call does not lock what it only reads, and runs again if that has changed", async () => {
    const [a, b] = await threeStores();
    const seen: (string | null)[] = [];
    const work = async (held: HeldStores): Promise<void> => {
      const text = await textOf(held, b, "a.md");
      seen.push(text);
      if (seen.length === 1) await commitTo(b, "two");
      await held.commit(a, { by: principal, changes: [writeIn(a, "a.md", `read ${text}`)], seen: held.seen });
    };
    await stage.holdStores([a, b], work, { onlyRead: [b] });
    expect(seen).toEqual(["", "two"]);
    expect(await stage.entriesOf(a, b)).toEqual({ "1/a.md": "read two", "2/a.md": "two" });
    const writesIt = stage.holdStores([a, b], (held) => appendTo(held, [b], "x"), { onlyRead: [b] });
    await expect(writesIt).rejects.toThrow(RangeError);
  });

  test("work runs again if a store that did not exist has been made meanwhile", async () => {
    const [a, , c] = await threeStores();
    const other = stage.openBeside();
    const seen: (string | null)[] = [];
    await stage.holdStores([a, c], async (held) => {
      seen.push(await textOf(held, c, "a.md"));
      const intruding = commitTo(c, "made meanwhile", soon(20), other);
      // Only a folder cannot be locked before it exists.
      if (stage.kind === "fileStore" && seen.length === 1) await intruding;
      else await expect(intruding).rejects.toMatchObject({ code: "BUSY" });
      await held.commit(a, { by: principal, changes: [writeIn(a, "a.md", "x")], seen: held.seen });
    });
    expect(seen).toEqual(stage.kind === "fileStore" ? [null, "made meanwhile"] : [null]);
    await other.store.close();
  });

  test("a slow reader keeps no writer waiting, and reads again what has changed", async () => {
    const [a, b] = await threeStores();
    const found: unknown[] = [];
    const work = async (held: HeldStores): Promise<void> => {
      const first = await textOf(held, a, "a.md");
      if (found.length === 0) await stage.commitStores([writeIn(a, "a.md", "new"), writeIn(b, "a.md", "new")]);
      found.push([first, await textOf(held, b, "a.md")]);
    };
    await stage.holdStores([a, b], work, reading);
    const again = [
      ["", "new"],
      ["new", "new"],
    ];
    expect(found).toEqual(isOfOneMoment ? [["", ""]] : again);
  });

  test("a reader that is overtaken twice keeps the writers waiting the third time", async () => {
    const [a] = await threeStores();
    const codes: string[] = [];
    const work = async (held: HeldStores): Promise<string | null> => {
      const text = await textOf(held, a, "a.md");
      const writing = commitTo(a, `${codes.length + 1}`, soon(codes.length < 2 ? 10_000 : 20));
      codes.push(
        await writing.then(
          () => "ok",
          ({ code }: { code: string }) => code,
        ),
      );
      return text;
    };
    const found = await stage.holdStores([a], work, reading);
    const overtaken = { codes: ["ok", "ok", "BUSY"], found: "2" };
    expect({ codes, found }).toEqual(isOfOneMoment ? { codes: ["ok"], found: "" } : overtaken);
  });

  test("a failure of work that has seen two versions is not reported, and a lasting one is", async () => {
    const [a, b] = await threeStores();
    let runs = 0;
    const work = async (held: HeldStores): Promise<string | null> => {
      if (++runs > 1) return await textOf(held, b, "a.md");
      await commitTo(b, "new");
      throw new Error("two versions");
    };
    const found = stage.holdStores([a, b], work, reading);
    if (isOfOneMoment) await expect(found).rejects.toThrow("two versions");
    else expect(await found).toBe("new");
    expect(runs).toBe(isOfOneMoment ? 1 : 2);
    let failures = 0;
    const failing = stage.holdStores([a], () => Promise.reject(new Error(`failure ${++failures}`)), reading);
    await expect(failing).rejects.toThrow("failure 1");
  });

  test("a reader notices a store that was made while it read", async () => {
    const [a, , c] = await threeStores();
    const seen: boolean[] = [];
    const work = async (held: HeldStores): Promise<void> => {
      seen.push(held.has(c));
      if (seen.length === 1) await commitTo(c, "new");
    };
    await stage.holdStores([a, c], work, reading);
    expect(seen).toEqual(isOfOneMoment ? [false] : [false, true]);
  });

  test("hundreds of stores can be read at once, those that nobody has made too", async () => {
    const ids = Array.from({ length: 300 }, newStoreId);
    const made = ids.slice(0, 40);
    for (const id of made) await commitTo(id, id);
    const textsIn = (held: HeldStores) => Promise.all(ids.map((id) => textOf(held, id, "a.md")));
    const found = await stage.holdStores(ids, textsIn, reading);
    expect(found).toEqual(ids.map((id) => (made.includes(id) ? id : null)));
  });

  test("a reader waits for a writer that has begun, and sees all of its change", async () => {
    const [a, b] = await threeStores();
    const readers: Promise<(string | null)[]>[] = [];
    await stage.holdStores([a, b], async (held) => {
      const commit = commitIn(held, [writeIn(a, "a.md", "both"), writeIn(a, "b.md", "both")]);
      for (let reader = 0; reader < 5; reader++) {
        const read = async (each: HeldStores): Promise<(string | null)[]> => {
          const first = await textOf(each, a, "a.md");
          await nextTurn();
          return [first === "" ? null : first, await textOf(each, a, "b.md")];
        };
        readers.push(stage.holdStores([b, a], read, reading));
        await nextTurn();
      }
      await commit;
    });
    for (const [first, second] of await Promise.all(readers)) expect(first).toBe(second);
  });
});
