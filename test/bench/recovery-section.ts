/** 6. Recovery after a thread was terminated, and the effect of a flood on a quiet user. */
import { figureOf } from "./figure.ts";
import { measureRecovery } from "./recovery.ts";
import type { Times } from "./recovery.ts";
import type { Figure, Section } from "./results.ts";
import { judged, targets } from "./targets.ts";

export async function measureRecoverySection(): Promise<Section> {
  const found = await measureRecovery();
  const quietAlone = { key: "quiet-alone", rounds: [found.quietAlone] };
  return {
    number: 6,
    title: "Recovery and fairness",
    notes: [
      "20 repetitions; a thread is ended because its guest did not answer within 100 ms",
      "the quiet user's calls store an entry, on one thread, alone and while 500 calls of another user wait",
    ],
    tables: [
      {
        key: "recovery",
        title: "After a thread was ended",
        unit: "ms",
        figures: [
          figure("one-thread", "one thread: the next answer", found.afterKillOneThread, whole),
          figure("two-threads", "two threads: the next answer", found.afterKillTwoThreads),
          figure("two-threads-whole", "two threads: both have answered", found.wholeAfterKillTwoThreads, whole),
        ],
      },
      {
        key: "fairness",
        title: "A quiet user's call",
        unit: "ms",
        figures: [
          figureOf({ ...quietAlone, name: "alone" }),
          figureOf({
            key: "quiet-in-flood",
            name: "while 500 calls of another user wait",
            rounds: [found.quietInFlood],
            against: quietAlone,
          }),
        ],
      },
    ],
  };
}

const whole = (median: number): Figure["targets"] => [judged(targets.poolWhole, median)];

function figure(key: string, name: string, times: Times, judge?: (median: number) => Figure["targets"]): Figure {
  return figureOf({ key, name, rounds: [times], ...(judge && { judge }) });
}
