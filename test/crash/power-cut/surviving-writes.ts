/** The writes without a flush that a disk may have kept when its power was cut. */
import { seededRandom } from "../../support/seeded-random.ts";
import type { BlockRecord, BlockWrite } from "./block-log.ts";

export interface PowerCut {
  /** The number of records of the log before the cut. */
  readonly position: number;
  /** A disk's cache may keep unflushed writes in any order: `some` is a random subset, `prefix` the first few. */
  readonly survivors: "all" | "none" | "prefix" | "some";
  /**
   * Whether one of the survivors keeps only some of its sectors. Many disks write 4,096 bytes atomically, and no file
   * system is sure to mount without that. ext4's journal is built to.
   */
  readonly torn?: boolean;
  /** The seed of all randomness here. The same cut of the same log leaves the same disk. */
  readonly seed?: number;
}

const sectorBytes = 512;

/** The number of records that are certainly permanent: those up to the last flush before the position. */
export function flushedBefore(records: readonly BlockRecord[], position: number): number {
  let end = Math.min(position, records.length);
  while (end > 0 && records[end - 1]?.kind !== "flush") end--;
  return end;
}

/** The writes between the last flush and the cut that the disk kept, in the order to apply them. */
export function survivingWrites(records: readonly BlockRecord[], cut: PowerCut): BlockWrite[] {
  const random = seededRandom(cut.seed ?? 0);
  const unflushed = records
    .slice(flushedBefore(records, cut.position), cut.position)
    .filter((record) => record.kind === "write");
  const kept = select(unflushed, cut.survivors, random);
  if (!cut.torn || kept.length === 0) return kept;
  const tornIndex = Math.floor(random() * kept.length);
  return kept.flatMap((write, index) => (index === tornIndex ? tear(write, random) : [write]));
}

function select(writes: BlockWrite[], survivors: PowerCut["survivors"], random: () => number): BlockWrite[] {
  switch (survivors) {
    case "all":
      return writes;
    case "none":
      return [];
    case "prefix":
      return writes.slice(0, Math.floor(random() * (writes.length + 1)));
    case "some": {
      // A different share each time, so that states that lack one write and states with only one are both likely.
      const share = random();
      return writes.filter(() => random() < share);
    }
  }
}

function tear(write: BlockWrite, random: () => number): BlockWrite[] {
  const sectors: BlockWrite[] = [];
  for (let start = 0; start < write.data.length; start += sectorBytes) {
    if (random() < 0.5) continue;
    const data = write.data.subarray(start, start + sectorBytes);
    sectors.push({ kind: "write", offset: write.offset + start, data });
  }
  return sectors;
}
