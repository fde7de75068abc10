/** 7. A journal of 10,000 blocks: searches, a read, a write, an update, in one thread and without commit. */
import { join } from "node:path";

import { writeUserFiles } from "../../support/user-files.ts";
import type { BenchRun } from "../bench-run.ts";
import { OwnTimes } from "../own-times.ts";
import type { Section } from "../results.ts";
import { callEnvironments } from "../sandbox/environment.ts";
import { restoredGuest } from "../sandbox/guest-ways.ts";
import type { ToolWay } from "../sandbox/tool-way.ts";
import { takeTurns } from "../take-turns.ts";
import type { Contestant, Plan } from "../take-turns.ts";
import { targets } from "../targets.ts";
import type { Bound } from "../targets.ts";
import { timesTable } from "../times-table.ts";
import { journalFiles, keyOfBlock } from "./files.ts";

interface Work {
  readonly key: string;
  readonly name: string;
  readonly tool: "memory_search" | "memory_read" | "memory_write" | "memory_update";
  readonly userId: "ascii" | "not-ascii";
  readonly input: (at: number) => object;
  readonly bound?: Bound;
}

const search = (query: object): Pick<Work, "tool" | "input" | "bound"> => ({
  tool: "memory_search",
  input: () => query,
  bound: targets.journalSearch,
});

const works: readonly Work[] = [
  { key: "some", name: "a word of 20 blocks", userId: "ascii", ...search({ query: "needle", limit: 100 }) },
  { key: "all", name: "a word of all blocks", userId: "ascii", ...search({ query: "common", limit: 100 }) },
  {
    key: "words",
    name: "by words: two, one of them in all blocks",
    userId: "ascii",
    tool: "memory_search",
    input: () => ({ query: "needles of numbers", match: "words", limit: 100 }),
  },
  {
    key: "words-some",
    name: "by words: one of 20 blocks",
    userId: "ascii",
    ...search({ query: "needles", match: "words", limit: 100 }),
  },
  { key: "every", name: "every block", userId: "ascii", ...search({ query: "", limit: 100 }) },
  { key: "tag", name: "a tag of 100 blocks", userId: "ascii", ...search({ query: "", tags: ["t7"], limit: 100 }) },
  {
    key: "not-ascii",
    name: "a word of 20 blocks, none of them ASCII",
    userId: "not-ascii",
    ...search({ query: "needle", limit: 100 }),
  },
  {
    key: "read",
    name: "a read of a daily block",
    userId: "ascii",
    tool: "memory_read",
    input: (at) => ({ key: keyOfBlock(at * 389) }),
  },
  {
    key: "write",
    name: "a write",
    userId: "ascii",
    tool: "memory_write",
    input: (at) => ({ key: `new-${at}`, content: "x" }),
  },
  {
    key: "update",
    name: "an update",
    userId: "ascii",
    tool: "memory_update",
    input: (at) => ({ key: keyOfBlock(at * 389), content: "x" }),
  },
];

export async function measureJournal(run: BenchRun): Promise<Section> {
  const dataDir = join(run.folder, "journal");
  writeUserFiles(dataDir, { ascii: journalFiles("release"), "not-ascii": journalFiles("日本語") });
  const own = new OwnTimes();
  const plan: Plan = {
    rounds: run.rounds,
    passes: 1,
    block: run.isQuick ? 1 : 2,
    beforeRound: () => run.noise.sampleRound(),
  };
  const times = await takeTurns(contestants({ way: await restoredGuest("journal"), dataDir, own }), plan);
  return {
    number: 7,
    title: "A journal of 10,000 blocks",
    notes: [
      "365 daily files, 2 MB; no threads, no lock, no commit",
      "the guest's own: without the time in which the host reads and lists files",
    ],
    tables: [
      timesTable({
        key: "journal-guest",
        title: "Journal: the guest's own time",
        times: own.times,
        isJudged: true,
        works,
      }),
      timesTable({ key: "journal-call", title: "Journal: with the host's reads", times, isJudged: false, works }),
    ],
  };
}

interface Stage {
  readonly way: ToolWay;
  readonly dataDir: string;
  readonly own: OwnTimes;
}

function contestants({ way, dataDir, own }: Stage): Contestant[] {
  const environmentFor = callEnvironments(dataDir, ["journal"]);
  return works.map(({ key, tool, userId, input }) => ({
    key,
    prepare: async () => way.prepare?.(),
    run: async ({ round, at }) => {
      using environment = environmentFor(userId);
      const call = { tool, exportName: tool, input: JSON.stringify(input(at)) };
      await own.measure({ key, round }, environment, (timed) => way.run({ ...call, environment: timed }));
    },
  }));
}
