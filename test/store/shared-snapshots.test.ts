/** What a hold of shared stores that only reads sees, and whom it keeps waiting. */
import { describe, expect, test } from "vitest";

import type { HeldStores } from "../stage/store.ts";
import { storeA, storeAt, storeB, storeC, textOf, writeIn } from "./store-files.ts";
import { principal, storeKinds, StoreStage } from "./store-stage.ts";

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe.each(storeKinds)("%s", (kind) => {
  /** A database shows each reader one moment, so it never has to read again. */
  const isOfOneMoment = kind === "postgresStore";

  async function stageWithStores(): Promise<StoreStage> {
    const stage = await StoreStage.open(kind);
    await stage.commitStores([writeIn(storeA, "a.md", ""), writeIn(storeB, "a.md", "")]);
    return stage;
  }

  test("a slow reader keeps no writer waiting, and reads again what has changed", async () => {
    await using stage = await stageWithStores();
    const found: unknown[] = [];
    await stage.holdStores(
      [storeA, storeB],
      async (held) => {
        const a = await textOf(held, storeA, "a.md");
        const until = performance.now() + 10_000;
        if (found.length === 0) {
          const changes = [writeIn(storeA, "a.md", "new"), writeIn(storeB, "a.md", "new")];
          await stage.holdStores([storeA, storeB], (each) => each.commit({ by: principal, changes, seen: [] }), {
            until,
          });
        }
        found.push([a, await textOf(held, storeB, "a.md")]);
      },
      { writes: false },
    );
    expect(found).toEqual(
      isOfOneMoment
        ? [["", ""]]
        : [
            ["", "new"],
            ["new", "new"],
          ],
    );
  });

  test("a reader that is overtaken twice keeps the writers waiting the third time", async () => {
    await using stage = await stageWithStores();
    let runs = 0;
    const codes: string[] = [];
    const found = await stage.holdStores(
      [storeA],
      async (held) => {
        runs++;
        const text = await textOf(held, storeA, "a.md");
        const until = performance.now() + (runs < 3 ? 10_000 : 20);
        const changes = [writeIn(storeA, "a.md", `${runs}`)];
        const writing = stage.holdStores([storeA], (each) => each.commit({ by: principal, changes, seen: [] }), {
          until,
        });
        codes.push(
          await writing.then(
            () => "ok",
            (error: { code: string }) => error.code,
          ),
        );
        return text;
      },
      { writes: false },
    );
    expect({ runs, codes, found }).toEqual(
      isOfOneMoment ? { runs: 1, codes: ["ok"], found: "" } : { runs: 3, codes: ["ok", "ok", "BUSY"], found: "2" },
    );
  });

  test("a failure of work that has seen two versions is not reported, and a lasting one is", async () => {
    await using stage = await stageWithStores();
    let runs = 0;
    const work = async (held: HeldStores): Promise<string | null> => {
      runs++;
      if (runs === 1) {
        await stage.commitStores([writeIn(storeB, "a.md", "new")]);
        throw new Error("two versions");
      }
      return await textOf(held, storeB, "a.md");
    };
    const reading = stage.holdStores([storeA, storeB], work, { writes: false });
    if (isOfOneMoment) await expect(reading).rejects.toThrow("two versions");
    else expect(await reading).toBe("new");
    expect(runs).toBe(isOfOneMoment ? 1 : 2);
    let failures = 0;
    const failing = stage.holdStores([storeA], () => Promise.reject(new Error(`failure ${++failures}`)), {
      writes: false,
    });
    await expect(failing).rejects.toThrow("failure 1");
  });

  test("a reader notices a store that was made while it read", async () => {
    await using stage = await stageWithStores();
    const seen: boolean[] = [];
    await stage.holdStores(
      [storeA, storeC],
      async (held) => {
        seen.push(held.has(storeC));
        if (seen.length === 1) await stage.commitStores([writeIn(storeC, "a.md", "new")]);
      },
      { writes: false },
    );
    expect(seen).toEqual(isOfOneMoment ? [false] : [false, true]);
  });

  test("a reader waits for a writer that has begun, and sees all of its change", async () => {
    await using stage = await stageWithStores();
    const readers: Promise<(string | null)[]>[] = [];
    await stage.holdStores([storeA, storeB], async (held) => {
      const changes = [writeIn(storeA, "a.md", "both"), writeIn(storeB, "a.md", "both")];
      const commit = held.commit({ by: principal, changes, seen: [] });
      for (let reader = 0; reader < 5; reader++) {
        const read = async (each: HeldStores): Promise<(string | null)[]> => {
          const a = await textOf(each, storeA, "a.md");
          await nextTurn();
          return [a, await textOf(each, storeB, "a.md")];
        };
        readers.push(stage.holdStores([storeB, storeA], read, { writes: false }));
        await nextTurn();
      }
      await commit;
    });
    for (const [a, b] of await Promise.all(readers)) expect(a).toBe(b);
  });

  test("hundreds of stores can be read at once", async () => {
    await using stage = await StoreStage.open(kind);
    const ids = Array.from({ length: 300 }, (_, at) => storeAt(at + 1));
    for (const id of ids.slice(0, 40)) await stage.commitStores([writeIn(id, "a.md", id)]);
    const found = await stage.holdStores(
      ids,
      async (held) => (await Promise.all(ids.map((id) => textOf(held, id, "a.md")))).filter((text) => text !== null),
      { writes: false },
    );
    expect(found).toEqual(ids.slice(0, 40));
  });
});
