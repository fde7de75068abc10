/** The sizes of scopes that a store of files keeps between calls must be those that a new walk measures. */
import { join } from "node:path";

import { fileStore } from "memcell";
import { expect, test, vi } from "vitest";

import type { WalTail } from "../../host/store/files/commit/find-records.ts";
import { KeptSizes } from "../../host/store/files/used-bytes.ts";
import type { HeldUser, Store } from "../../host/store/store.ts";
import type { ChangeSet } from "../../host/values/change-set.ts";
import type { UserId } from "../../host/values/user-id.ts";
import { storeLimits } from "../../shared/limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { remove, trash, write } from "./store-stage.ts";

const alice = "alice" as UserId;

function hold<Result>(store: Store, work: (held: HeldUser) => Promise<Result>, isThorough = false): Promise<Result> {
  return store.hold(alice, { writes: true, until: performance.now() + 30_000, isThorough }, work);
}

/** Commits as a call does whose guest has measured its scope. Returns what the next call is given. */
async function commit(store: Store, changes: ChangeSet): Promise<number | undefined> {
  await hold(store, async (held) => {
    const usedBytes = { memory: held.usedBytes["memory"] ?? (await held.reader.bytesUsed("memory")) };
    await held.commit(changes, [], usedBytes);
  });
  return hold(store, async ({ usedBytes }) => usedBytes["memory"]);
}

const measured = (store: Store): Promise<number> => hold(store, ({ reader }) => reader.bytesUsed("memory"));

test("after each kind of change, the kept size is the measured one", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  const steps: ChangeSet[] = [
    [write("a.md", "one"), write("b/c.md", "é".repeat(1_000))],
    [write("a.md", "longer than one")],
    [write("a.md", ""), trash("b/c.md", "trash/b/c.1.md")],
    [write("b/c.md", "again"), write("d.md", "x"), remove("d.md")],
    [remove("trash/b/c.1.md"), write("e.md", new Uint8Array([1, 2, 3]), "journal")],
    [write("a.md", "a".repeat(storeLimits.fileBytesMax))],
  ];
  for (const changes of steps) expect(await commit(store, changes)).toBe(await measured(store));
  await store.close();
});

test("each commit of one hold counts", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  await commit(store, [write("a.md", "one"), write("b.md", "two"), write("c.md", "three")]);
  await hold(store, async (held) => {
    for (const name of ["a.md", "b.md"]) await held.commit([remove(name)], []);
  });
  const kept = await hold(store, async ({ usedBytes }) => usedBytes["memory"]);
  expect(kept).toBe(await measured(store));
  expect(kept).toBe("three".length);
  await store.close();
});

test("nothing is kept of a scope that is more than half full", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  const { fileBytesMax, scopeBytesMax } = storeLimits;
  const count = scopeBytesMax / 2 / fileBytesMax;
  const large = Array.from({ length: count }, (_, at) => write(`${at}.md`, "a".repeat(fileBytesMax)));
  expect(await commit(store, large)).toBe(scopeBytesMax / 2);
  expect(await commit(store, [write("last.md", "a")])).toBeUndefined();
  await store.close();
});

test("what another process or a thorough hold has done is measured again", async () => {
  using folder = temporaryFolder();
  const definition = fileStore({ dir: join(folder.path, "data") });
  const [store, other] = [definition.open(() => {}), definition.open(() => {})];
  expect(await commit(store, [write("a.md", "one")])).toBe(3);
  await hold(other, (held) => held.commit([write("b.md", "of another process")], []));
  expect(await hold(store, async ({ usedBytes }) => usedBytes)).toEqual({});
  expect(await commit(store, [write("c.md", "c")])).toBe(await measured(store));
  await hold(store, async () => {}, true);
  expect(await hold(store, async ({ usedBytes }) => usedBytes)).toEqual({});
  await Promise.all([store.close(), other.close()]);
});

test("a commit that nobody has measured for keeps no size", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  await hold(store, (held) => held.commit([write("a.md", "one")], []));
  expect(await hold(store, async ({ usedBytes }) => usedBytes)).toEqual({});
  await store.close();
});

test("a size is used for a minute, also if another scope is measured meanwhile", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const tail = { identity: "1", checkpoint: { salt: 1 }, next: 1, end: 0 } as unknown as WalTail;
  const kept = new KeptSizes();
  kept.keep(alice, tail, { bytes: { runs: 1 }, known: {} });
  vi.advanceTimersByTime(59_000);
  kept.keep(alice, tail, { bytes: { runs: 1, memory: 2 }, known: { runs: 1 } });
  expect(kept.of(alice, tail)).toEqual({ runs: 1, memory: 2 });
  vi.advanceTimersByTime(2_000);
  expect(kept.of(alice, tail)).toEqual({});
  vi.useRealTimers();
});
