/** 8. The history of runs: appends and loads through the whole stack, against a file of JSON lines in Node. */
import { join } from "node:path";

import type { BenchRun } from "../bench-run.ts";
import { figureOf } from "../figure.ts";
import type { Figure, Section } from "../results.ts";
import { settler } from "../settler.ts";
import { takeTurns } from "../take-turns.ts";
import type { Contestant, Plan } from "../take-turns.ts";
import { judged, targets } from "../targets.ts";
import type { Bound } from "../targets.ts";
import { eventAt, eventsFrom } from "./event.ts";
import { longRun, openStage, wholeRun } from "./stage.ts";
import type { Sizes, Stage } from "./stage.ts";

const fullSizes: Sizes = { long: 50_000, whole: 10_000, fresh: 10 };
const quickSizes: Sizes = { long: 5_000, whole: 1_000, fresh: 10 };
const smallCount = 10;
const block = 10;

export async function measureRunHistory(run: BenchRun): Promise<Section> {
  const sizes = run.isQuick ? quickSizes : fullSizes;
  await using stage = await openStage(join(run.folder, "run-history"), sizes);
  using disk = settler(run.folder);
  const plan: Plan = {
    rounds: run.rounds,
    passes: 2,
    block,
    settle: disk.settle,
    beforeRound: () => run.noise.sampleRound(),
  };
  const times = new Map([
    ...(await takeTurns(appending(stage, sizes), plan)),
    ...(await takeTurns(loading(stage, sizes), { ...plan, block: 1 })),
    ...(await takeTurns(continuing(stage, sizes), plan)),
  ]);
  const figure = figures(times);
  const [long, whole] = [sizes.long, sizes.whole].map((count) => count.toLocaleString("en"));
  const works = [
    { key: "append-small", name: `an append to a run of ${smallCount} events` },
    { key: "append-long", name: `an append to a run of ${long} events` },
    { key: "load", name: `a load of ${whole} events, all pages` },
    { key: "since", name: `a load of the last ${sizes.fresh} of ${long} events` },
  ];
  const bounds = [
    figure("append-small", `an append to a run of ${smallCount} events`),
    figure("append-long", `to a run of ${long} events`, { to: "append-small", bound: targets.appendGrowth }),
    figure("empty", "a load of a run that does not exist"),
    figure("nothing", `of nothing new of ${long} events`, { to: "empty" }),
    figure("since", `of the last ${sizes.fresh} of ${long} events`, { to: "empty", bound: targets.loadSince }),
  ];
  const against = works.flatMap(({ key, name }) => [
    figure(`naive-${key}`, `${name}, a file of JSON lines`),
    figure(key, `${name}, memcell`, { to: `naive-${key}` }),
  ]);
  return {
    number: 8,
    title: "The history of runs",
    notes: [
      "events of 500 bytes, one in each append; durable, and the disk is flushed before each block",
      `appends to a short run: blocks of ${block}, each to a new run of ${smallCount} events`,
      "the file of JSON lines: opened, written, flushed and closed for an append; read, parsed and sorted for a load, and read from a known byte for the last events",
    ],
    tables: [
      { key: "run-history-bounds", title: "Short and long runs", unit: "ms", figures: bounds },
      { key: "run-history", title: "Runs, against a file of JSON lines in Node", unit: "ms", figures: against },
    ],
  };
}

const isFirst = (at: number): boolean => at % block === 0;

function appending({ small, large, naive }: Stage, { long }: Sizes): Contestant[] {
  let [smallRun, naiveRun] = [0, 0];
  let [next, naiveNext] = [long, long];
  return [
    {
      key: "append-small",
      prepare: async ({ at }) => {
        if (isFirst(at)) await small.append(`short-${++smallRun}`, eventsFrom(0, smallCount));
      },
      run: ({ at }) => small.append(`short-${smallRun}`, [eventAt(at)]),
    },
    { key: "append-long", run: () => large.append(longRun, [eventAt(next++)]) },
    {
      key: "naive-append-small",
      prepare: async ({ at }) => {
        if (isFirst(at)) naive.append(`short-${++naiveRun}`, eventsFrom(0, smallCount));
      },
      run: async ({ at }) => naive.append(`short-${naiveRun}`, [eventAt(at)]),
    },
    { key: "naive-append-long", run: async () => naive.append("appended", [eventAt(naiveNext++)]) },
  ];
}

function loading({ reader, naive }: Stage, { whole }: Sizes): Contestant[] {
  return [
    { key: "load", run: async () => expectCount((await reader.load(wholeRun)).events, whole) },
    { key: "naive-load", run: async () => expectCount(naive.load(wholeRun), whole) },
  ];
}

function continuing({ reader, naive, since }: Stage, { fresh }: Sizes): Contestant[] {
  return [
    { key: "empty", run: async () => expectCount((await reader.load("none")).events, 0) },
    { key: "nothing", run: async () => expectCount((await reader.load(longRun, since.end)).events, 0) },
    { key: "since", run: async () => expectCount((await reader.load(longRun, since.cursor)).events, fresh) },
    { key: "naive-since", run: async () => expectCount(naive.loadSince(longRun, since.bytes), fresh) },
  ];
}

function expectCount({ length }: readonly unknown[], count: number): void {
  if (length !== count) throw new Error(`Loaded ${length} events, expected ${count}`);
}

interface Comparison {
  readonly to: string;
  readonly bound?: Bound;
}

type FigureMaker = (key: string, name: string, comparison?: Comparison) => Figure;

function figures(times: ReadonlyMap<string, number[][]>): FigureMaker {
  const roundsOf = (key: string): number[][] => times.get(key) ?? [];
  return (key, name, comparison) =>
    figureOf({
      key,
      name,
      rounds: roundsOf(key),
      ...(comparison && { against: { key: comparison.to, rounds: roundsOf(comparison.to) } }),
      judge: (found) => (comparison?.bound ? [judged(comparison.bound, found)] : []),
    });
}
