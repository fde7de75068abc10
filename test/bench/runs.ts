/** 7. The history of runs: appends to short and long runs, and loads of what is new, through the whole stack. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";

import { readUserFiles, writeUserFiles } from "../support/user-files.ts";
import { bounds, figureOf } from "./figures.ts";
import { settler } from "./machine.ts";
import type { Section } from "./results.ts";
import { takeTurns } from "./take-turns.ts";
import type { BenchRun, Contestant } from "./take-turns.ts";

const smallCount = 10;
const freshCount = 10;
const block = 10;
/** Fits into a call's input. */
const batchMax = 500;

export async function measureRuns(run: BenchRun): Promise<Section> {
  const longCount = run.isQuick ? 5_000 : 50_000;
  const dataDir = join(run.folder, "run-history");
  const cursor = await fillLong(dataDir, longCount);
  // Nobody appends to the reader's run.
  writeUserFiles(dataDir, { reader: readUserFiles(dataDir, "large") });
  await using runtime = await createRuntime({ dataDir, plugins: ["run-history"], threadsMax: 1 });
  using disk = settler(run.folder);
  const plan = { passes: 2, block, settle: disk.settle };
  const appended = await takeTurns(run, appending(runtime, longCount), plan);
  const loaded = await takeTurns(run, loading(runtime, cursor), plan);
  const [small, none] = [appended("append-small"), loaded("empty")];
  const long = longCount.toLocaleString("en");
  return {
    number: 7,
    title: "The history of runs",
    notes: [
      "events of 500 bytes, one in each append; durable, and the disk is flushed before each block",
      `appends to a short run: blocks of ${block}, each to a new run of ${smallCount} events`,
    ],
    tables: [
      {
        key: "run-history-bounds",
        title: "Short and long runs",
        unit: "ms",
        figures: [
          figureOf({ key: "append-small", name: `an append to a run of ${smallCount} events`, rounds: small }),
          figureOf({
            key: "append-long",
            name: `to a run of ${long} events`,
            rounds: appended("append-long"),
            against: { key: "append-small", rounds: small },
            bound: bounds.appendGrowth,
          }),
          figureOf({ key: "empty", name: "a load of a run that does not exist", rounds: none }),
          figureOf({
            key: "since",
            name: `of the last ${freshCount} of ${long} events`,
            rounds: loaded("since"),
            against: { key: "empty", rounds: none },
            bound: bounds.loadSince,
          }),
        ],
      },
    ],
  };
}

function appending(runtime: Runtime, longCount: number): Contestant[] {
  let [smallRun, next] = [0, longCount];
  return [
    {
      key: "append-small",
      prepare: async ({ at }) => {
        if (at % block === 0) await append(runtime, ["small", `short-${++smallRun}`], { first: 0, count: smallCount });
      },
      run: ({ at }) => append(runtime, ["small", `short-${smallRun}`], { first: at, count: 1 }),
    },
    { key: "append-long", run: () => append(runtime, ["large", "long"], { first: next++, count: 1 }) },
  ];
}

function loading(runtime: Runtime, cursor: string): Contestant[] {
  const load = (key: string, run: string, { since, count }: { since?: string; count: number }): Contestant => ({
    key,
    run: async () => {
      const { events } = await loadPage(runtime, ["reader", run], since);
      if (events.length !== count) throw new Error(`Loaded ${events.length} events, expected ${count}`);
    },
  });
  return [load("empty", "none", { count: 0 }), load("since", "long", { since: cursor, count: freshCount })];
}

/** Returns the cursor before the fresh events. */
async function fillLong(dataDir: string, count: number): Promise<string> {
  const options = { dataDir, plugins: ["run-history"], threadsMax: 1, durability: "relaxed" } as const;
  await using runtime = await createRuntime(options);
  const long = ["large", "long"] as const;
  const before = count - freshCount;
  for (let first = 0; first < before; first += batchMax) {
    await append(runtime, long, { first, count: Math.min(batchMax, before - first) });
  }
  let page = await loadPage(runtime, long);
  while (page.more) page = await loadPage(runtime, long, page.meta.cursor);
  await append(runtime, long, { first: before, count: freshCount });
  return page.meta.cursor;
}

type OfUser = readonly [userId: string, runId: string];

async function append(runtime: Runtime, run: OfUser, { first, count }: Record<"first" | "count", number>) {
  await call(runtime, run, {
    tool: "AppendRunEvents",
    events: Array.from({ length: count }, (_, at) => eventAt(first + at)),
  });
}

interface Page {
  readonly events: readonly unknown[];
  readonly more: boolean;
  readonly meta: { readonly cursor: string };
}

const loadPage = async (runtime: Runtime, run: OfUser, cursor?: string): Promise<Page> =>
  (await call(runtime, run, { tool: "LoadRun", cursor })) as Page;

async function call(
  runtime: Runtime,
  [userId, runId]: OfUser,
  { tool, ...input }: { readonly tool: string; readonly [field: string]: unknown },
): Promise<unknown> {
  const result = await runtime.callAsHost(tool, { agentId: "planner", runId, ...input }, { userId });
  if (!result.ok) throw new Error(result.error.message);
  return result.data;
}

const hits = "All that the search has found on it. ".repeat(7);

/** A tool's result, about 500 bytes as a line of a file. Each is a second later than the one before. */
function eventAt(at: number): object {
  const data = {
    tool_call_id: `call-${at}`,
    tool_name: "search_documents",
    preview: `Result ${at}`,
    result_json: JSON.stringify({ hits: at % 50, text: hits }),
    duration: 1_000_000 + at,
  };
  const timestamp = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString().replace(".000Z", "Z");
  return { type: "tool_result", timestamp, data: JSON.stringify(data), labels: { step: `${at % 100}` } };
}
