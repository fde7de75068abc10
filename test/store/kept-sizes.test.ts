/** The sizes of scopes that a store of files keeps between calls must be those that a new walk measures. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { fileStore } from "memcell";
import { describe, expect, test, vi } from "vitest";

import type { WalTail } from "../../host/store/files/commit/find-records.ts";
import { KeptSizes } from "../../host/store/files/kept-sizes.ts";
import { storeLimits } from "../../shared/limits.ts";
import { noFiles } from "../stage/store.ts";
import type { ChangeSet, HeldUser, KnownSizes, ScopeSize, Store, UserId } from "../stage/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { remove, trash, write } from "./store-stage.ts";

const alice = "alice" as UserId;

function hold<Result>(store: Store, work: (held: HeldUser) => Promise<Result>, isThorough = false): Promise<Result> {
  return store.hold(alice, { writes: true, until: performance.now() + 30_000, isThorough }, work);
}

/** Commits as a call does whose guest has measured its scope. Returns what the next call is given. */
async function commit(store: Store, changes: ChangeSet): Promise<Partial<ScopeSize> | undefined> {
  await hold(store, async (held) => {
    const measuredNow = await held.reader.scopeSize("memory");
    const knownSizes = { memory: { ...measuredNow, ...held.knownSizes["memory"] } };
    await held.commit(changes, [], { knownSizes });
  });
  return hold(store, async ({ knownSizes }) => knownSizes["memory"]);
}

const measured = (store: Store): Promise<ScopeSize> => hold(store, ({ reader }) => reader.scopeSize("memory"));

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
  for (const changes of steps) expect(await commit(store, changes)).toEqual(await measured(store));
  await store.close();
});

test("each commit of one hold counts", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  await commit(store, [write("a.md", "one"), write("b.md", "two"), write("c.md", "three")]);
  await hold(store, async (held) => {
    for (const name of ["a.md", "b.md"]) await held.commit([remove(name)], []);
  });
  const kept = await hold(store, async ({ knownSizes }) => knownSizes["memory"]);
  expect(kept).toEqual(await measured(store));
  expect(kept?.live).toEqual({ files: 1, bytes: "three".length });
  await store.close();
});

test("of a scope that is more than half full, only the trash is kept", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  const { fileBytesMax, scopeBytesMax } = storeLimits;
  const count = scopeBytesMax / 2 / fileBytesMax;
  const large = Array.from({ length: count }, (_, at) => write(`${at}.md`, "a".repeat(fileBytesMax)));
  expect((await commit(store, large))?.live?.bytes).toBe(scopeBytesMax / 2);
  expect(await commit(store, [write("last.md", "a")])).toEqual({ trash: noFiles });
  await store.close();
});

test("what another process or a thorough hold has done is measured again", async () => {
  using folder = temporaryFolder();
  const definition = fileStore({ dir: join(folder.path, "data") });
  const [store, other] = [definition.open(() => {}), definition.open(() => {})];
  expect((await commit(store, [write("a.md", "one")]))?.live?.bytes).toBe(3);
  await hold(other, (held) => held.commit([write("b.md", "of another process")], []));
  expect(await hold(store, async ({ knownSizes }) => knownSizes)).toEqual({});
  expect(await commit(store, [write("c.md", "c")])).toEqual(await measured(store));
  await hold(store, async () => {}, true);
  expect(await hold(store, async ({ knownSizes }) => knownSizes)).toEqual({});
  await Promise.all([store.close(), other.close()]);
});

test("a commit that nobody has measured for keeps no size", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: join(folder.path, "data") }).open(() => {});
  await hold(store, (held) => held.commit([write("a.md", "one")], []));
  expect(await hold(store, async ({ knownSizes }) => knownSizes)).toEqual({});
  await store.close();
});

test("a live size is used for a minute, also if another scope is measured meanwhile", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const tail = { identity: "1", checkpoint: { salt: 1 }, next: 1, end: 0 } as unknown as WalTail;
  const kept = new KeptSizes();
  const [runs, memory] = [1, 2].map((files) => ({ live: { files, bytes: 1 }, trash: { files, bytes: 2 } }));
  if (!runs || !memory) throw new RangeError("Two sizes are expected");
  kept.keep(alice, tail, { sizes: { runs }, known: {} });
  vi.advanceTimersByTime(59_000);
  kept.keep(alice, tail, { sizes: { runs, memory }, known: { runs } });
  expect(kept.of(alice, tail)).toEqual({ runs, memory });
  vi.advanceTimersByTime(2_000);
  expect(kept.of(alice, tail)).toEqual({ runs: { trash: runs.trash }, memory: { trash: memory.trash } });
  vi.useRealTimers();
});

const known = (store: Store): Promise<KnownSizes> => hold(store, async ({ knownSizes }) => knownSizes);

describe("the size of a large trash outlives the process", () => {
  const count = 600;
  const trashed = Array.from({ length: count }, (_, at) => write(`trash/a.${at}.md`, "x"));
  const asLeft = { memory: { trash: { files: count, bytes: count } } };

  test("but only as long as nobody has committed since", async () => {
    using folder = temporaryFolder();
    const definition = fileStore({ dir: join(folder.path, "data") });
    const first = definition.open(() => {});
    await commit(first, [write("a.md", "one"), ...trashed]);
    await first.close();
    const second = definition.open(() => {});
    expect(await known(second)).toEqual(asLeft);
    expect(await commit(second, [remove("trash/a.0.md")])).toEqual(await measured(second));
    const third = definition.open(() => {});
    expect(await known(third)).toEqual({ memory: { trash: { files: count - 1, bytes: count - 1 } } });
    await commit(second, [write("b.md", "two")]);
    expect(await known(third)).toEqual({});
    await second.close();
    expect(await known(third)).toMatchObject({ memory: { trash: { files: count - 1 } } });
    await third.close();
  });

  test.each([
    ["half a file", (text: string) => text.slice(0, text.length / 2)],
    ["no number", (text: string) => text.replace(`"files":${count}`, '"files":-1')],
    ["the sizes at another time", (text: string) => text.replace(/"wal":"[^"]*"/, '"wal":"1:1 x 2 4096"')],
    ["a scope that no store has", (text: string) => text.replace('"memory"', '"../memory"')],
    ["no object", () => "[null]"],
    ["too much", (text: string) => text + " ".repeat(20_000)],
  ])("and is measured if the file has %s", async (_, damage) => {
    using folder = temporaryFolder();
    const definition = fileStore({ dir: join(folder.path, "data") });
    const first = definition.open(() => {});
    await commit(first, trashed);
    await first.close();
    const file = join(folder.path, "data", "users", "alice", ".memcell", "sizes");
    writeFileSync(file, damage(readFileSync(file, "utf8")));
    const second = definition.open(() => {});
    expect(await known(second)).toEqual({});
    await second.close();
  });
});
