/** 4. The time of a call in folders with few and with many entries, and with a full trash. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";

import { storeLimits } from "../../../shared/limits.ts";
import { writeUserFiles } from "../../support/user-files.ts";
import type { BenchRun } from "../bench-run.ts";
import { body, describe, entryName, indexLine, upsertInput } from "../entry.ts";
import { figureOf } from "../figure.ts";
import type { Section, Table } from "../results.ts";
import { takeTurns, timesOf } from "../take-turns.ts";
import type { Contestant, Times } from "../take-turns.ts";
import { judged, targets } from "../targets.ts";

interface Memory {
  readonly key: string;
  readonly name: string;
  readonly entries: number;
  readonly trashed: number;
}

const { trashFilesMax } = storeLimits;
const memories: readonly Memory[] = [
  ...[10, 100, 1000].map((entries) => ({ key: `${entries}`, name: `${entries} entries`, entries, trashed: 0 })),
  { key: "full-trash", name: `10 entries, ${trashFilesMax} files in the trash`, entries: 10, trashed: trashFilesMax },
];
const isJudged = ({ key }: Memory): boolean => key === "1000" || key === "full-trash";

const operations = [
  { key: "upsert", name: "replacing an entry", tool: "UpdateUserMemory" },
  { key: "read", name: "reading an entry", tool: "ReadUserMemory" },
] as const;
type Operation = (typeof operations)[number];

export async function measureGrowth(run: BenchRun): Promise<Section> {
  const dataDir = join(run.folder, "growth");
  for (const memory of memories) writeUserFiles(dataDir, { [userOf(memory)]: filesOf(memory) });
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  const times = await takeTurns(contestants(runtime), {
    rounds: run.rounds,
    passes: 2,
    block: 10,
    warmUpRounds: run.isQuick ? 1 : 10,
    beforeRound: () => run.noise.sampleRound(),
  });
  return {
    number: 4,
    title: "Growth of a folder",
    notes: ["entries of 1 KB, calls through the whole stack, entries from all over the folder"],
    tables: operations.map((operation) => tableOf(operation, times)),
  };
}

const userOf = ({ key }: Memory): string => `has-${key}`;
const keyOf = (operation: Operation, memory: string): string => `${operation.key}-${memory}`;

/** Files as memcell would have written them. */
function filesOf({ entries: count, trashed }: Memory): Record<string, string> {
  const written = "'2026-01-01T00:00:00.000Z'";
  const entries = Array.from({ length: count }, (_, at): [string, string] => [
    `memory/${entryName(at)}.md`,
    `---\nname: ${entryName(at)}\ndescription: ${describe(at, -1)}\ntype: user\ncreated: ${written}\nupdated: ${written}\n---\n${body}`,
  ]);
  const index = Array.from({ length: count }, (_, at) => indexLine(at, describe(at, -1)));
  const trash = Array.from({ length: trashed }, (_, at): [string, string] => [
    `memory/trash/old.20250101T${String(at).padStart(9, "0")}Z.md`,
    "gone",
  ]);
  return { ...Object.fromEntries([...entries, ...trash]), "memory/MEMORY.md": index.join("") };
}

function contestants(runtime: Runtime): Contestant[] {
  return operations.flatMap((operation) =>
    memories.map((memory) => ({
      key: keyOf(operation, memory.key),
      run: async ({ at, round }) => {
        // A prime that divides no count, so that entries come from the whole folder.
        const entry = (at * 389) % memory.entries;
        const input = operation.key === "read" ? { name: entryName(entry) } : upsertInput(entry, round);
        const result = await runtime.call(operation.tool, input, { userId: userOf(memory) });
        if (!result.ok) throw new Error(result.error.message);
      },
    })),
  );
}

function tableOf(operation: Operation, times: Times): Table {
  const figures = memories.map((memory) =>
    figureOf({
      key: memory.key,
      name: memory.name,
      rounds: timesOf(times, keyOf(operation, memory.key)),
      against: { key: "10", rounds: timesOf(times, keyOf(operation, "10")) },
      ...(isJudged(memory) && { judge: (ratio) => [judged(targets.growthTo1000, ratio)] }),
    }),
  );
  return { key: `growth-${operation.key}`, title: `Growth: ${operation.name}`, unit: "ms", figures };
}
