import { seededRandom } from "../../support/seeded-random.ts";
import type { BlockLog } from "./block-log.ts";
import type { PowerCut } from "./surviving-writes.ts";

export interface Sampling {
  readonly count: number;
  readonly seed: number;
  /**
   * Only ext4's journal is built for disks that tear a block. Its superblock, which mounting writes before the first
   * mark, is not.
   */
  readonly mayTear: boolean;
}

/** A third of the cuts right after an acknowledgement, where most can be lost; the others anywhere. */
export function* sampledCuts(log: BlockLog, { count, seed, mayTear }: Sampling): Generator<PowerCut> {
  const random = seededRandom(seed);
  const anyOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const cuts = Array.from({ length: Math.ceil(count) }, (_, at): PowerCut => {
    const acknowledged = anyOf(log.marks)?.position ?? 0;
    const position = at % 3 === 0 ? acknowledged : Math.floor(random() * (log.records.length + 1));
    const survivors = anyOf(["all", "none", "prefix", "some", "some"] as const) ?? "some";
    return {
      position,
      survivors,
      seed: seed * 10_000 + at,
      torn: mayTear && at % 4 === 1 && position > (log.marks[0]?.position ?? 0),
    };
  });
  yield* cuts.toSorted((a, b) => a.position - b.position);
}

/** The number of the last acknowledgement before a cut. */
export const acknowledgedAt = (log: BlockLog, position: number): number =>
  Number(log.marksBefore(position).at(-1) ?? 0);
