/** The rig itself, without memcell: it must find a careless program's losses, and none of a careful program. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, test } from "vitest";

import { seededRandom } from "../../support/seeded-random.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { afterCrash } from "./after-crash.ts";
import type { BlockLog } from "./block-log.ts";
import { fileSystems } from "./file-systems.ts";
import type { FileSystemKind } from "./file-systems.ts";
import { loggedDisk } from "./logged-disk.ts";
import type { PowerCut } from "./surviving-writes.ts";

const kinds = Object.keys(fileSystems) as FileSystemKind[];
const savesCount = 12;
const statesCount = 60;

interface Care {
  readonly syncFile: boolean;
  readonly syncFolder: boolean;
}

/** Long enough for several blocks, so that a file can survive in part. */
const contentOf = (count: number): string => `${count}\n`.repeat(5000);

/** Replaces a file by a rename, the usual way to have either the old or the new content at any time. */
function save(folder: string, count: number, care: Care): void {
  const file = openSync(join(folder, "saved.tmp"), "w");
  writeSync(file, contentOf(count));
  if (care.syncFile) fsyncSync(file);
  closeSync(file);
  renameSync(join(folder, "saved.tmp"), join(folder, "saved"));
  if (care.syncFolder) syncFolder(folder);
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}

/** The count in the file; 0 without a file; `null` for a content that was never saved. */
function savedIn(folder: string): number | null {
  const path = join(folder, "saved");
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, "utf8");
  const count = Number.parseInt(text, 10);
  return text === contentOf(count) ? count : null;
}

async function logOfSaves(kind: FileSystemKind, care: Care): Promise<BlockLog | string> {
  const disk = await loggedDisk(kind);
  if (typeof disk === "string") return disk;
  using held = disk;
  for (let count = 1; count <= savesCount; count++) {
    save(held.mountPoint, count, care);
    held.mark(`${count}`);
  }
  return held.log;
}

/** Cuts all over the log, and two after its end, where every save has been acknowledged. */
function* sampledCuts(log: BlockLog): Generator<PowerCut> {
  const random = seededRandom(1);
  for (const survivors of ["all", "none"] as const) yield { position: log.records.length, survivors };
  for (let seed = 2; seed < statesCount; seed++) {
    const position = Math.floor(random() * (log.records.length + 1));
    yield { position, survivors: seed % 4 === 0 ? "prefix" : "some", seed };
  }
}

/** Every cut after which an acknowledged save is missing. */
async function lossesIn(log: BlockLog): Promise<PowerCut[]> {
  using crash = afterCrash(log);
  const losses: PowerCut[] = [];
  const startMs = performance.now();
  await crash.mountEach(sampledCuts(log), async (folder, cut) => {
    const acknowledged = Number(log.marksBefore(cut.position).at(-1) ?? 0);
    const saved = savedIn(folder);
    if (saved === null || saved < acknowledged) losses.push(cut);
  });
  const seconds = (performance.now() - startMs) / 1000;
  const [rate, records] = [(statesCount / seconds).toFixed(0), log.records.length];
  console.log(
    `${log.fileSystem}: ${losses.length} losses in ${statesCount} states, ${rate}/s, log of ${records} records`,
  );
  return losses;
}

describe("power cut", { timeout: 120_000 }, () => {
  // The first disk of a kind can have to install packages.
  beforeAll(async () => {
    for (const kind of kinds) {
      const disk = await loggedDisk(kind);
      if (typeof disk !== "string") disk[Symbol.dispose]();
    }
  }, 600_000);

  test.for(kinds)("%s loses saves without a flush", async (kind, context) => {
    const log = await logOfSaves(kind, { syncFile: false, syncFolder: false });
    if (typeof log === "string") skipWithReason(context, log);
    expect(await lossesIn(log)).not.toEqual([]);
  });

  test.for(kinds)("%s keeps saves whose file and folder were flushed", async (kind, context) => {
    const log = await logOfSaves(kind, { syncFile: true, syncFolder: true });
    if (typeof log === "string") skipWithReason(context, log);
    expect(await lossesIn(log)).toEqual([]);
  });

  test("ext4-writeback loses the content of a file if only its folder was flushed", async (context) => {
    const log = await logOfSaves("ext4-writeback", { syncFile: false, syncFolder: true });
    if (typeof log === "string") skipWithReason(context, log);
    expect(await lossesIn(log)).not.toEqual([]);
  });
});
