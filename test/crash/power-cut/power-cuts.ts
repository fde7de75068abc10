/** The disks that power cuts can leave behind, each mounted so that the file system repairs itself first. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { mountFolder } from "../../support/mount-folder.ts";
import { runCommand } from "../../support/run-command.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { fileSystems } from "./file-systems.ts";
import type { BlockLog, BlockRecord, BlockWrite } from "./logged-disk.ts";

export interface PowerCut {
  /** The number of records of the log before the cut. */
  readonly position: number;
  /** The number of marks before it. */
  readonly marks: number;
  /** A disk's cache may keep unflushed writes in any order: `some` is a random subset, `prefix` the first few. */
  readonly survivors: "all" | "none" | "prefix" | "some";
  /**
   * Whether one of the survivors keeps only some of its sectors. Many disks write 4,096 bytes atomically, and no file
   * system but ext4, by its journal, is sure to mount without that. Its superblock, which mounting writes before the
   * first mark, is no part of the journal.
   */
  readonly isTorn: boolean;
  /** The seed of all randomness here. The same cut of the same log leaves the same disk. */
  readonly seed: number;
}

/** Passes each disk's folder to the visitor. A third of the cuts come right after a mark, the others anywhere. */
export async function cutPower(
  log: BlockLog,
  { count, seed }: { readonly count: number; readonly seed: number },
  visit: (folder: string, cut: PowerCut) => Promise<void>,
): Promise<void> {
  const { type, mountOptions } = fileSystems[log.kind];
  const options = ["loop", "rw", ...mountOptions].join(",");
  const disk = Buffer.from(log.start);
  let flushed = 0;
  for (const cut of cutsOf(log, count, seed)) {
    const unflushedFrom = 1 + log.records.findLastIndex(({ kind }, at) => kind === "flush" && at < cut.position);
    write(disk, log.records.slice(flushed, unflushedFrom));
    flushed = unflushedFrom;
    const image = Buffer.from(disk);
    write(image, survivorsOf(log.records.slice(unflushedFrom, cut.position), cut));
    using folder = mountFolder();
    const [imageFile, mountPoint] = [join(folder.path, "disk.img"), join(folder.path, "files")];
    mkdirSync(mountPoint);
    writeFileSync(imageFile, image);
    await runCommand("mount", ["-t", type, "-o", options, imageFile, mountPoint]);
    // The mount keeps the file open until it is unmounted.
    rmSync(imageFile);
    await visit(mountPoint, cut);
    // Fails if the visitor has left a file open.
    await runCommand("umount", [mountPoint]);
  }
}

/** At rising positions, so that flushed writes are applied only once. */
function cutsOf({ kind, records, marks }: BlockLog, count: number, seed: number): PowerCut[] {
  const random = seededRandom(seed);
  const upTo = (end: number): number => Math.floor(random() * end);
  const cuts = Array.from({ length: Math.ceil(count) }, (_, at): PowerCut => {
    const marked = marks[upTo(marks.length)] ?? 0;
    const position = at % 3 === 0 ? marked : upTo(records.length + 1);
    const isTorn = kind.startsWith("ext4") && at % 4 === 1 && position > (marks[0] ?? 0);
    const survivors = (["all", "none", "prefix", "some", "some"] as const)[upTo(5)] ?? "some";
    const before = marks.filter((mark) => mark <= position).length;
    return { position, marks: before, survivors, isTorn, seed: seed * 10_000 + at };
  });
  return cuts.toSorted((a, b) => a.position - b.position);
}

/** The writes between the last flush and the cut that the disk kept, in the order to apply them. */
function survivorsOf(unflushed: readonly BlockRecord[], { survivors, isTorn, seed }: PowerCut): BlockWrite[] {
  const random = seededRandom(seed);
  // Another share each time, so that states that lack one write and states with only one are both likely.
  const share = random();
  const writes = unflushed.filter((record) => record.kind === "write");
  const kept = writes.filter((_, at) => {
    if (survivors === "prefix") return at < share * writes.length;
    return survivors === "all" || (survivors === "some" && random() < share);
  });
  const torn = isTorn ? Math.floor(random() * kept.length) : -1;
  return kept.flatMap((each, at) => (at === torn ? sectorsOf(each).filter(() => random() < 0.5) : [each]));
}

const sectorBytes = 512;

const sectorsOf = ({ offset, data }: BlockWrite): BlockWrite[] =>
  Array.from({ length: Math.ceil(data.length / sectorBytes) }, (_, at) => {
    const start = at * sectorBytes;
    return { kind: "write", offset: offset + start, data: data.subarray(start, start + sectorBytes) };
  });

function write(disk: Buffer, records: readonly BlockRecord[]): void {
  for (const record of records) if (record.kind === "write") record.data.copy(disk, record.offset);
}
