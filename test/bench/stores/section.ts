/** 9. Searches of 1,000 entries of 4 KB, in 20 stores and in a user's memory, in one thread and without commit. */
import { join } from "node:path";

import type { BenchRun } from "../bench-run.ts";
import { OwnTimes } from "../own-times.ts";
import type { Section } from "../results.ts";
import { callEnvironments, storeEnvironments } from "../sandbox/environment.ts";
import type { CallEnvironment } from "../sandbox/environment.ts";
import { restoredGuest } from "../sandbox/guest-ways.ts";
import type { ToolWay } from "../sandbox/tool-way.ts";
import { takeTurns } from "../take-turns.ts";
import type { Contestant, Plan } from "../take-turns.ts";
import { targets } from "../targets.ts";
import { timesTable } from "../times-table.ts";
import { fillMemory, fillStores, memoryUserId } from "./files.ts";
import type { Sizes, Stage } from "./files.ts";

const fullSizes: Sizes = { stores: 20, entries: 50 };
const quickSizes: Sizes = { stores: 5, entries: 50 };

const queries = [
  { key: "some", name: "a word of 2 % of the entries", query: "needles" },
  {
    key: "several",
    name: "a question of ten words",
    query: "Which needle did dibacen take from the common ruvi, and why?",
  },
  { key: "all", name: "a word of all entries", query: "common" },
  { key: "none", name: "a word of no entry", query: "hippopotamus" },
] as const;

/** The aim is about searches of stores with indexes, and of a memory, which has none. */
const places = [
  { folder: "memory", name: "memory, ", bound: targets.memorySearch },
  { folder: "indexed", name: "stores, ", bound: targets.storesSearch },
  { folder: "plain", name: "stores without indexes, ", bound: undefined },
] as const;

const works = places.flatMap(({ folder, name: where, bound }) =>
  queries.map(({ key, name, query }) => ({ key: `${folder}-${key}`, name: where + name, folder, query, bound })),
);

export async function measureStores(run: BenchRun): Promise<Section> {
  const sizes = run.isQuick ? quickSizes : fullSizes;
  const stage = await fillStores(join(run.folder, "stores"), sizes);
  const count = sizes.stores * sizes.entries;
  const memory = join(run.folder, "memory");
  await fillMemory(memory, count);
  const own = new OwnTimes();
  const plan: Plan = {
    rounds: run.rounds,
    passes: 1,
    block: run.isQuick ? 1 : 2,
    beforeRound: () => run.noise.sampleRound(),
  };
  const ofStores = storeContestants(await restoredGuest("stores"), stage, own);
  const ofMemory = memoryContestants(await restoredGuest("user-memory"), memory, own);
  const times = await takeTurns([...ofMemory, ...ofStores], plan);
  return {
    number: 9,
    title: `Searches of ${count.toLocaleString("en")} entries of 4 KB, in a memory and in ${sizes.stores} stores`,
    notes: [
      "no threads, no locks, no commit; access is decided beforehand",
      "the guest's own: without the time in which the host reads and lists files",
      "no indexes: as after a person has edited every entry",
    ],
    tables: [
      timesTable({
        key: "stores-guest",
        title: "Search: the guest's own time",
        times: own.times,
        isJudged: true,
        works,
      }),
      timesTable({ key: "stores-call", title: "Search: with the host's reads", times, isJudged: false, works }),
    ],
  };
}

function storeContestants(way: ToolWay, stage: Stage, own: OwnTimes): Contestant[] {
  const environments = {
    indexed: storeEnvironments(stage.indexed, stage.stores),
    plain: storeEnvironments(stage.plain, stage.stores),
  };
  return works.flatMap(({ key, folder, query }) => {
    if (folder === "memory") return [];
    const call = { tool: "memory", exportName: "memory_search", input: JSON.stringify({ command: "search", query }) };
    return [contestant({ key, way, call, environment: environments[folder], own })];
  });
}

function memoryContestants(way: ToolWay, dataDir: string, own: OwnTimes): Contestant[] {
  const environmentFor = callEnvironments(dataDir);
  return works.flatMap(({ key, folder, query }) => {
    if (folder !== "memory") return [];
    const call = { tool: "SearchUserMemory", exportName: "search_user_memory", input: JSON.stringify({ query }) };
    return [contestant({ key, way, call, environment: () => environmentFor(memoryUserId), own })];
  });
}

interface SearchCall {
  readonly key: string;
  readonly way: ToolWay;
  readonly call: { readonly tool: string; readonly exportName: string; readonly input: string };
  readonly environment: () => CallEnvironment;
  readonly own: OwnTimes;
}

const contestant = ({ key, way, call, environment: open, own }: SearchCall): Contestant => ({
  key,
  prepare: async () => way.prepare?.(),
  run: async ({ round }) => {
    using environment = open();
    await own.measure({ key, round }, environment, (timed) => way.run({ ...call, environment: timed }));
  },
});
