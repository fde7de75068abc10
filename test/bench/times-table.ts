import { figureOf } from "./figure.ts";
import type { Table } from "./results.ts";
import { timesOf } from "./take-turns.ts";
import type { Times } from "./take-turns.ts";
import { judged } from "./targets.ts";
import type { Bound } from "./targets.ts";

export interface TimesTable {
  readonly key: string;
  readonly title: string;
  readonly times: Times;
  /** One row each. */
  readonly works: readonly { readonly key: string; readonly name: string; readonly bound?: Bound | undefined }[];
  readonly isJudged: boolean;
}

/** A table with the median time of each work, in milliseconds, and whether it keeps its bound. */
export function timesTable({ key, title, times, works, isJudged }: TimesTable): Table {
  const figures = works.map((work) => {
    const { bound } = work;
    const judge = isJudged && bound && { judge: (median: number) => [judged(bound, median)] };
    return figureOf({ key: work.key, name: work.name, rounds: timesOf(times, work.key), ...judge });
  });
  return { key, title, unit: "ms", figures };
}
