/** 9. Searches of 20 stores with 1,000 entries of 4 KB, in one thread and without commit. */
import { join } from "node:path";

import type { BenchRun } from "../bench-run.ts";
import { OwnTimes } from "../own-times.ts";
import type { Section } from "../results.ts";
import { storeEnvironments } from "../sandbox/environment.ts";
import type { CallEnvironment } from "../sandbox/environment.ts";
import { restoredGuest } from "../sandbox/guest-ways.ts";
import type { ToolWay } from "../sandbox/tool-way.ts";
import { takeTurns } from "../take-turns.ts";
import type { Contestant, Plan } from "../take-turns.ts";
import { targets } from "../targets.ts";
import { timesTable } from "../times-table.ts";
import { fillStores } from "./files.ts";
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

const places = [
  { folder: "indexed", name: "" },
  { folder: "plain", name: ", no indexes" },
] as const;

/** The aim is about searches with indexes. */
const works = places.flatMap(({ folder, name: where }) =>
  queries.map(({ key, name, query }) => ({
    key: `${folder}-${key}`,
    name: name + where,
    folder,
    query,
    bound: folder === "indexed" ? targets.storesSearch : undefined,
  })),
);

export async function measureStores(run: BenchRun): Promise<Section> {
  const sizes = run.isQuick ? quickSizes : fullSizes;
  const stage = await fillStores(join(run.folder, "stores"), sizes);
  const own = new OwnTimes();
  const plan: Plan = {
    rounds: run.rounds,
    passes: 1,
    block: run.isQuick ? 1 : 2,
    beforeRound: () => run.noise.sampleRound(),
  };
  const times = await takeTurns(contestants(await restoredGuest("stores"), stage, own), plan);
  const count = (sizes.stores * sizes.entries).toLocaleString("en");
  return {
    number: 9,
    title: `Searches of ${sizes.stores} stores with ${count} entries of 4 KB`,
    notes: [
      "no threads, no locks, no commit; access is decided beforehand",
      "the guest's own: without the time in which the host reads and lists files",
      "no indexes: as after a person has edited every entry",
    ],
    tables: [
      timesTable({
        key: "stores-guest",
        title: "Stores: the guest's own time",
        times: own.times,
        isJudged: true,
        works,
      }),
      timesTable({ key: "stores-call", title: "Stores: with the host's reads", times, isJudged: false, works }),
    ],
  };
}

function contestants(way: ToolWay, stage: Stage, own: OwnTimes): Contestant[] {
  const environments = new Map<string, () => CallEnvironment>(
    places.map(({ folder }) => [folder, storeEnvironments(stage[folder], stage.stores)]),
  );
  return works.map(({ key, folder, query }) => ({
    key,
    prepare: async () => way.prepare?.(),
    run: async ({ round }) => {
      const environmentFor = environments.get(folder);
      if (environmentFor === undefined) throw new RangeError(`No data folder ${folder}`);
      using environment = environmentFor();
      const call = { tool: "memory", exportName: "memory_search", input: JSON.stringify({ command: "search", query }) };
      await own.measure({ key, round }, environment, (timed) => way.run({ ...call, environment: timed }));
    },
  }));
}
