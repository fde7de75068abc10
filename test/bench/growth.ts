/** The time of a call in folders with few and with many entries, and with a full trash. */
import { join } from "node:path";

import { createRuntime } from "memcell";

import { storeLimits } from "../../shared/limits.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { body, describe, entryName, expectOk, indexLine, upsertInput } from "./entry.ts";
import { bounds, figureOf } from "./figures.ts";
import type { Section } from "./results.ts";
import { storeGrowth } from "./store-growth.ts";
import { takeTurns } from "./take-turns.ts";
import type { BenchRun } from "./take-turns.ts";

const { trashFilesMax } = storeLimits;
const memories = [
  ...[10, 100, 1000].map((entries) => ({ key: `${entries}`, name: `${entries} entries`, entries, trashed: 0 })),
  { key: "full-trash", name: `10 entries, ${trashFilesMax} files in the trash`, entries: 10, trashed: trashFilesMax },
] as const;
type Memory = (typeof memories)[number];
const isJudged = ({ key }: Memory): boolean => key === "1000" || key === "full-trash";

const operations = [
  { key: "upsert", name: "replacing an entry", tool: "UpdateUserMemory" },
  { key: "read", name: "reading an entry", tool: "ReadUserMemory" },
] as const;

export async function measureGrowth(run: BenchRun): Promise<Section> {
  const dataDir = join(run.folder, "growth");
  for (const memory of memories) writeUserFiles(dataDir, { [memory.key]: filesOf(memory) });
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  const contestants = operations.flatMap(({ key, tool }) =>
    memories.map((memory) => ({
      key: `${key}-${memory.key}`,
      run: ({ at, round }: { at: number; round: number }) => {
        // A prime that divides no count, so that entries come from the whole folder.
        const entry = (at * 389) % memory.entries;
        const input = key === "read" ? { name: entryName(entry) } : upsertInput(entry, round);
        return expectOk(runtime.call(tool, input, { userId: memory.key }));
      },
    })),
  );
  const found = await takeTurns(run, contestants, { passes: 2, block: 10, warmUpRounds: run.isQuick ? 1 : 10 });
  const tables = operations.map(({ key: operation, name: what }) => {
    const against = { key: "10", rounds: found(`${operation}-10`) };
    const figures = memories.map((memory) => {
      const bound = isJudged(memory) ? bounds.growthTo1000 : undefined;
      const rounds = found(`${operation}-${memory.key}`);
      return figureOf({ key: memory.key, name: memory.name, rounds, against, bound });
    });
    return { key: `growth-${operation}`, title: `Growth: ${what}`, unit: "ms", figures };
  });
  return {
    title: "Growth of a folder",
    notes: ["entries of 1 KB, calls through the whole stack, entries from all over the folder"],
    tables: [...tables, ...(await storeGrowth(run))],
  };
}

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
