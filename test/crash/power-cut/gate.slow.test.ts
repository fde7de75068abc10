/**
 * A whole runtime under power cuts, block by block, while writes begin to wait, are approved and rejected, runs lose
 * trust by what they read, and changes are undone. The next start finds what was answered, all or nothing of what was
 * under way, and the operation that the cut has interrupted ends as without a cut.
 *
 * `TEST_LONG=1` tries ten times as many states.
 */
import { existsSync } from "node:fs";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { hostFolder } from "../host-under-test.ts";
import { differences } from "../model/expected-memory.ts";
import type { Files } from "../model/expected-memory.ts";
import { gate } from "../model/gate-operation.ts";
import { closeRuntimes, gateSubject, statesFrom } from "../model/gate-subject.ts";
import { loadHost } from "../model/host.ts";
import { settings } from "../model/standing-clock.ts";
import { readTree } from "../model/tree.ts";
import type { Tree } from "../model/tree.ts";
import { afterCrash } from "./after-crash.ts";
import type { BlockLog } from "./block-log.ts";
import type { FileSystemKind } from "./file-systems.ts";
import { loggedDisk } from "./logged-disk.ts";
import type { LoggedDisk } from "./logged-disk.ts";
import { acknowledgedAt, sampledCuts } from "./sampled-cuts.ts";
import { dataDirOn } from "./store-on-disk.ts";

const scale = process.env["TEST_LONG"] ? 10 : 1;
const statesOf: Readonly<Record<FileSystemKind, number>> = { ext4: 150, "ext4-writeback": 50, xfs: 50, btrfs: 50 };
const kinds = Object.keys(statesOf) as FileSystemKind[];

const long = "A line of a page, of which a part may be lost.\n".repeat(400);
const operations = [
  gate("wait", "first", "The user's first write waits."),
  gate("approve"),
  gate("write", "mine", "My words."),
  gate("infer", "guess", "A guess."),
  gate("read", "guess"),
  gate("wait", "mine", long),
  gate("infer", "mine", "A second guess."),
  gate("undo"),
  gate("approve"),
  gate("wait", "other", long),
  gate("wait", "more", "Of a page."),
  gate("reject"),
  gate("infer", "guess", "Another guess."),
  gate("approve"),
  gate("read", "guess"),
  gate("undo"),
];
/** Before it, the stores are closed, which retires the log. */
const reopensBefore = 9;

const host = await loadHost(hostFolder);
type Store = InstanceType<typeof host.FileStore>;

/** Each start of the machine has its own id. */
function openStore(path: string, boot: string): Store {
  return new host.FileStore(new host.DiskRoot(path), { durability: "full", note: () => {}, settings }, boot);
}

/** Of a disk that has perhaps lost even the data folder. */
const treeOf = (path: string): Tree => (existsSync(path) ? readTree(path) : new Map());
const filesIn = (path: string): Files => gateSubject.filesIn(treeOf(path));

/** Does all operations, in turns of two processes. Sets a mark after each answer, and returns what was there then. */
async function perform(disk: LoggedDisk): Promise<Files[]> {
  const path = dataDirOn(disk.mountPoint);
  const open = (): [Store, Store] => [openStore(path, "first start"), openStore(path, "first start")];
  disk.mark("0");
  const answered: Files[] = [new Map()];
  let stores = open();
  for (const [at, operation] of operations.entries()) {
    if (at === reopensBefore) {
      for (const store of stores) await store.close();
      stores = open();
    }
    await gateSubject.perform?.(host, { store: stores[at % 2] ?? stores[0], path }, operation);
    disk.mark(`${at + 1}`);
    answered.push(filesIn(path));
  }
  for (const store of stores) await store.close();
  disk.mark(`${operations.length}`);
  return answered;
}

/** One after the other: there is one runtime for all disks. */
let turn: Promise<unknown> = Promise.resolve();
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = turn.then(work);
  turn = result.catch(() => {});
  return result;
}

/** Recovers, and does again what the cut has interrupted. Returns the faults. */
async function faultsOn(mountPoint: string, answered: readonly Files[], acknowledged: number): Promise<string[]> {
  const path = dataDirOn(mountPoint);
  const store = openStore(path, "second start");
  const look = (): Promise<void> =>
    gateSubject.hold(store, { writes: true, until: performance.now() + 30_000 }, () => Promise.resolve());
  const [before = new Map<string, string>(), after] = answered.slice(acknowledged);
  const operation = operations[acknowledged];
  try {
    await look();
    const found = filesIn(path);
    const during = after && operation ? [...statesFrom(before, after, operation).during, after] : [];
    const wrong = [before, ...during].map((each) => unlike(each, found));
    const faults = wrong.every((each) => each.length > 0) ? wrong.flat() : [];
    if (after && operation && unlike(after, found).length > 0) {
      await gateSubject.perform?.(host, { store, path }, operation);
      faults.push(...unlike(after, filesIn(path)).map((each) => `again: ${each}`));
    }
    await look();
    return [...faults, ...gateSubject.stagedIn(treeOf(path)).map((name) => `${name} was left`)];
  } finally {
    await store.close();
  }
}

const unlike = (wanted: Files, found: Files): string[] =>
  differences({ name: "", files: wanted, edits: new Map() }, found, "in place or in the trash");

async function logOfOperations(kind: FileSystemKind): Promise<{ log: BlockLog; answered: Files[] } | string> {
  const disk = await loggedDisk(kind);
  if (typeof disk === "string") return disk;
  using held = disk;
  const answered = await perform(held);
  return { log: held.log, answered };
}

describe("what waits and what is undone, after a power cut", { timeout: 1_200_000 }, () => {
  // The first disk of a kind can have to install packages.
  beforeAll(async () => {
    for (const kind of kinds) {
      const disk = await loggedDisk(kind);
      if (typeof disk !== "string") disk[Symbol.dispose]();
    }
  }, 600_000);

  afterAll(closeRuntimes);

  test.for(kinds)("on %s all that was answered is there, and nothing in part", async (kind, context) => {
    const done = await logOfOperations(kind);
    if (typeof done === "string") skipWithReason(context, done);
    const { log, answered } = done;
    using crash = afterCrash(log);
    const cuts = [...sampledCuts(log, { count: statesOf[kind] * scale, seed: 4, mayTear: kind.startsWith("ext4") })];
    const faults: unknown[] = [];
    let interrupted = 0;
    await crash.mountEach(cuts, async (folder, cut) => {
      const acknowledged = acknowledgedAt(log, cut.position);
      if (acknowledged < operations.length) interrupted++;
      const found = await inTurn(() => faultsOn(folder, answered, acknowledged));
      if (found.length > 0) faults.push({ cut, acknowledged, found });
    });
    console.log(
      `${kind}: ${faults.length} faults in ${cuts.length} states, ${interrupted} of them in an operation, log of ${log.records.length} records`,
    );
    expect(faults).toEqual([]);
  });
});
