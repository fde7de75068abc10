/**
 * Unexpected things in the folder of shared stores, in each place that the host uses. The host refuses them with a code.
 * It never follows them or waits for them, and no other store is affected.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { fileTraps, folderTraps, layTrap, pathIn } from "./folder-traps.ts";
import type { Trap } from "./folder-traps.ts";
import { codeOf, grantsOf, neighbour, principal, SharedStoreStage, storeId } from "./shared-store-stage.ts";
import type { StoreOutcomes } from "./shared-store-stage.ts";

const unsafe = "STORAGE_UNSAFE";
const open: StoreOutcomes = { read: "ok", guest: "ok", write: "ok", grants: "ok" };
const closed: StoreOutcomes = { read: unsafe, guest: unsafe, write: unsafe, grants: unsafe };
/** A guest reads without lock and WAL, and a hold that only reads without a lock. */
const withoutLock: StoreOutcomes = { ...closed, guest: "ok", read: "ok" };
const withoutWal: StoreOutcomes = { ...closed, guest: "ok" };

interface Place {
  readonly path: string;
  readonly traps: readonly Trap[];
  readonly outcomes: StoreOutcomes;
  /** Other outcomes for a file of any size. */
  readonly large?: StoreOutcomes;
}

const places: readonly Place[] = [
  { path: "", traps: folderTraps, outcomes: closed },
  { path: "entries", traps: folderTraps, outcomes: { ...closed, grants: "ok" } },
  { path: ".memcell", traps: folderTraps, outcomes: closed },
  { path: "entries/x.md", traps: fileTraps, outcomes: { ...closed, grants: "ok" } },
  { path: ".memcell/owner", traps: fileTraps, outcomes: closed },
  { path: ".memcell/lock", traps: fileTraps, outcomes: withoutLock, large: open },
  { path: ".memcell/turnstile", traps: fileTraps, outcomes: withoutLock, large: open },
  { path: ".memcell/journal", traps: fileTraps, outcomes: withoutWal, large: open },
  { path: ".memcell/grants.json", traps: fileTraps, outcomes: { ...open, grants: unsafe } },
  { path: ".memcell/creator", traps: fileTraps, outcomes: open },
];

const rows = places.flatMap(({ path, traps, outcomes, large }) =>
  traps.map((trap) => {
    const isLarge = trap.name === "a sparse giant" && large !== undefined;
    return { place: path || "the store's folder", path, trap, name: trap.name, outcomes: isLarge ? large : outcomes };
  }),
);

const stage = new SharedStoreStage();
await stage.make(neighbour);
const hintsOf = (id: string): string => join(stage.dataDir, "stores/.granted", id);
mkdirSync(hintsOf(neighbour), { recursive: true });
afterAll(() => stage[Symbol.asyncDispose]());

test.for(rows.map((row, at) => Object.assign({ at }, row)))(
  "$name in place of $place",
  async ({ path, trap, outcomes, at }, context) => {
    if (trap.name === "a device" && process.getuid?.() !== 0) skipWithReason(context, "only root can make a device");
    const id = storeId(at + 1);
    await stage.make(id);
    const fallback = (folder: string): string => {
      const same = pathIn(folder, path);
      return existsSync(same) ? same : pathIn(folder, "entries/x.md");
    };
    const end = await layTrap(trap, {
      path: pathIn(stage.folderOf(id), path),
      neighbours: fallback(stage.folderOf(neighbour)),
      outside: fallback(stage.outside),
    });
    try {
      const before = [stage.outside, stage.folderOf(neighbour)].map(treeFingerprint);
      expect(await stage.use(id)).toEqual(outcomes);
      expect([stage.outside, stage.folderOf(neighbour)].map(treeFingerprint)).toEqual(before);
    } finally {
      end();
    }
    expect(await stage.use(neighbour)).toEqual(open);
  },
);

test.for(folderTraps.map((trap, at) => ({ trap, at, name: trap.name })))(
  "$name in place of a principal's hints: no grant is made, and none is listed",
  async ({ trap, at }, context) => {
    if (trap.name === "a device" && process.getuid?.() !== 0) skipWithReason(context, "only root can make a device");
    const [id, grantee] = [storeId(5_000 + at), storeId(6_000 + at)];
    await stage.make(id);
    await stage.make(grantee);
    const [path, neighbours] = [hintsOf(grantee), hintsOf(neighbour)];
    mkdirSync(path);
    const end = await layTrap(trap, { path, neighbours, outside: pathIn(stage.outside, ".memcell/granted") });
    const before = [stage.outside, neighbours].map(treeFingerprint);
    const until = performance.now() + 10_000;
    const granting = stage.store.shared.hold([id], { writes: true, until }, (held) =>
      held.commit({ by: principal, changes: [], seen: [], grants: grantsOf(id, "granted", [grantee]) }),
    );
    expect(await codeOf(granting)).toBe(unsafe);
    expect(readFileSync(join(stage.folderOf(id), ".memcell/grants.json"), "utf8")).toBe("{}");
    expect(await codeOf(stage.store.shared.hintsOf(grantee))).toBe(unsafe);
    expect([stage.outside, neighbours].map(treeFingerprint)).toEqual(before);
    end();
  },
);

test.for(folderTraps.map((trap) => ({ trap, name: trap.name })))(
  "$name in place of the folder of all stores",
  async ({ trap }, context) => {
    if (trap.name === "a device" && process.getuid?.() !== 0) skipWithReason(context, "only root can make a device");
    await using own = new SharedStoreStage();
    await own.make(neighbour);
    const stores = join(own.dataDir, "stores");
    const elsewhere = join(own.outside, "stores");
    execFileSync("mv", [stores, elsewhere]);
    const before = treeFingerprint(own.outside);
    const end = await layTrap(trap, { path: stores, neighbours: elsewhere, outside: elsewhere });
    expect(await own.use(neighbour)).toEqual(closed);
    expect(await codeOf(own.store.shared.ids())).toBe(unsafe);
    expect(await codeOf(own.store.shared.hintsOf(neighbour))).toBe(unsafe);
    expect(treeFingerprint(own.outside)).toEqual(before);
    end();
  },
);
