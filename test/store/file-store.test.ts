/** What a store of files keeps in memory and on the disk to be fast: sizes of scopes, room in WALs, what was read before. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { isSettled } from "../stage/journal.ts";
import { oneIn } from "../stage/seed.ts";
import { noFiles, ownStoreOf } from "../stage/store.ts";
import type { ChangeSet, HeldUser, KnownSizes, OpenedStore, UserId } from "../stage/store.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { FileStage } from "./file-stage.ts";
import { remove, soon, StoreStage, textOf, write, writeIn } from "./store-stage.ts";

const alice = "alice" as UserId;

const hold = <Result>(
  store: OpenedStore,
  work: (held: HeldUser) => Promise<Result>,
  options: { isThorough?: boolean } = {},
): Promise<Result> => store.holdUser(alice, { ...soon(), ...options }, work);

const commit = (store: OpenedStore, ...changes: ChangeSet): Promise<void> =>
  hold(store, (held) => held.commit(changes, []));

const known = (store: OpenedStore): Promise<KnownSizes> => hold(store, async ({ knownSizes }) => knownSizes);
const measured = (store: OpenedStore): Promise<KnownSizes> =>
  hold(store, async ({ reader }) => ({ memory: await reader.scopeSize("memory") }));

/** Commits as a call does whose guest has measured its scope. Returns what the next call is given. */
async function measuredCommit(store: OpenedStore, ...changes: ChangeSet): Promise<KnownSizes> {
  await hold(store, async (held) => {
    const memory = { ...(await held.reader.scopeSize("memory")), ...held.knownSizes["memory"] };
    await held.commit(changes, [], { knownSizes: { memory } });
  });
  return await known(store);
}

test("of a scope that is more than half full, only the trash is kept", async () => {
  await using stage = new FileStage();
  const { store } = stage;
  const { fileBytesMax, scopeBytesMax } = storeLimits;
  const count = scopeBytesMax / 2 / fileBytesMax;
  const large = Array.from({ length: count }, (_, at) => write(`${at}.md`, "a".repeat(fileBytesMax)));
  expect(await measuredCommit(store, ...large)).toMatchObject({ memory: { live: { bytes: scopeBytesMax / 2 } } });
  expect(await measuredCommit(store, write("last.md", "a"))).toEqual({ memory: { trash: noFiles } });
});

test("what another process, a thorough hold, or nobody has measured is measured again", async () => {
  await using stage = new FileStage();
  const [store, other] = [stage.store, stage.beside()];
  await commit(store, write("a.md", "unmeasured"));
  expect(await known(store)).toEqual({});
  expect(await measuredCommit(store, write("a.md", "one"))).toMatchObject({ memory: { live: { bytes: 3 } } });
  await commit(other, write("b.md", "of another process"));
  expect(await known(store)).toEqual({});
  expect(await measuredCommit(store, write("c.md", "c"))).toEqual(await measured(store));
  await hold(store, async () => {}, { isThorough: true });
  expect(await known(store)).toEqual({});
});

test("a live size is used for a minute, whatever is measured meanwhile, and whatever the clock says", async () => {
  await using stage = new FileStage();
  const { store } = stage;
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    await measuredCommit(store, write("a.md", "one"));
    for (const stepMs of [-3_600_000, 3_600_000]) {
      using _clock = steppedClock(stepMs);
      expect(await known(store)).toEqual(await measured(store));
    }
    vi.advanceTimersByTime(59_000);
    expect(await measuredCommit(store, write("b.md", "two"))).toEqual(await measured(store));
    vi.advanceTimersByTime(2_000);
    expect(await known(store)).toEqual({ memory: { trash: noFiles } });
  } finally {
    vi.useRealTimers();
  }
});

const count = 600;
const trashed = Array.from({ length: count }, (_, at) => write(`trash/a.${at}.md`, "x"));
const trashOf = (files: number): object => ({ memory: { trash: { files, bytes: files } } });

test("the size of a large trash outlives the process, but only as long as nobody has committed since", async () => {
  await using stage = new FileStage();
  const first = stage.store;
  await measuredCommit(first, write("a.md", "one"), ...trashed);
  await first.close();
  const second = stage.beside();
  expect(await known(second)).toEqual(trashOf(count));
  expect(await measuredCommit(second, remove("trash/a.0.md"))).toEqual(await measured(second));
  const third = stage.beside();
  expect(await known(third)).toEqual(trashOf(count - 1));
  await measuredCommit(second, write("b.md", "two"));
  expect(await known(third)).toEqual({});
  await second.close();
  expect(await known(third)).toMatchObject(trashOf(count - 1));
});

test("it is measured if the file of sizes is damaged, of another time, too large, or names what no store has", async () => {
  await using stage = new FileStage();
  const first = stage.store;
  await measuredCommit(first, ...trashed);
  await first.close();
  const text = readFileSync(stage.own("sizes"), "utf8");
  for (const damaged of [
    text.replace(`"files":${count}`, '"files":-1'),
    text.replace(/"journal":"[^"]*"/, '"journal":"1:1 2 x"'),
    text.replace('"memory"', '"../memory"'),
    "[null]",
    text + " ".repeat(20_000),
  ]) {
    writeFileSync(stage.own("sizes"), damaged);
    expect({ damaged, known: await known(stage.beside()) }).toEqual({ damaged, known: {} });
  }
});

test.for(oneIn(2, [-3_600_000, 3_600_000]))(
  "while the clock steps by %i ms, a wait for a lock ends in time, and an idle user is settled",
  async (stepMs) => {
    await using stage = new FileStage();
    const [first, second] = [stage.store, stage.beside()];
    await commit(first, write("a.md", "a secret"));
    using _clock = steppedClock(stepMs);
    await hold(first, async () => {
      const waiting = second.holdUser(alice, soon(20), async () => {});
      await expect(waiting).rejects.toMatchObject({ code: "BUSY" });
    });
    await vi.waitUntil(() => isSettled(stage.own(""), "alice"), { timeout: 30_000 });
  },
);

/** A store that is erased and made anew can have a journal with the same inode, and with as many frames. */
test("who reads a store without a lock reads again if its files and its journal were replaced in place", async () => {
  const own = ownStoreOf(alice);
  await using stage = await StoreStage.open("fileStore");
  await using anew = await StoreStage.open("fileStore");
  await stage.commitStores([writeIn(own, "a.md", "4444")], { by: alice });
  await anew.commitStores([writeIn(own, "a.md", "anew")], { by: alice });
  const runs: (string | null)[] = [];
  await stage.holdStores(
    [own],
    async (held) => {
      runs.push(await textOf(held, own, "a.md"));
      for (const file of ["entries/a.md", ".memcell/journal/000000000001.log"]) {
        const place = join("stores", own, file);
        writeFileSync(join(stage.dataDir, place), readFileSync(join(anew.dataDir, place)));
      }
    },
    { writes: false },
  );
  expect(runs).toEqual(["4444", "anew"]);
});
