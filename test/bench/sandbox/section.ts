/** 2. The cost of the sandbox: the same tools, directly in Node and in the guest, in one thread, without commit. */
import { join } from "node:path";

import { createRuntime } from "memcell";

import type { BenchRun } from "../bench-run.ts";
import { entryName, upsertInput } from "../entry.ts";
import { figureOf } from "../figure.ts";
import type { Section, Table, Target } from "../results.ts";
import { takeTurns, timesOf } from "../take-turns.ts";
import type { Contestant, Times } from "../take-turns.ts";
import { judged, targets } from "../targets.ts";
import { directWay } from "./direct-way.ts";
import { callEnvironments } from "./environment.ts";
import { guestWays } from "./guest-ways.ts";
import type { ToolWay } from "./tool-way.ts";

const sizes = [100, 4096, 65_536] as const;
/** The size that the bound is for. */
const promisedBytes = 4096;
const entriesCount = 10;

const operations = [
  { key: "upsert", tool: "UpdateUserMemory", exportName: "update_user_memory" },
  { key: "read", tool: "ReadUserMemory", exportName: "read_user_memory" },
] as const;
type Operation = (typeof operations)[number];

export async function measureSandbox(run: BenchRun): Promise<Section> {
  const dataDir = join(run.folder, "sandbox");
  await fill(dataDir);
  const ways = [await directWay(run.folder), ...(await guestWays())];
  const times = await takeTurns(contestants(ways, dataDir), {
    rounds: run.rounds,
    passes: run.isQuick ? 1 : 3,
    block: 10,
    beforeRound: () => run.noise.sampleRound(),
  });
  return {
    number: 2,
    title: "What the sandbox costs",
    notes: [
      "the tool's own code and its reads of a folder of 10 entries; no threads, no lock, no commit",
      "added: what a call takes longer than the same code in Node",
    ],
    tables: operations.map((operation) => tableOf(operation, ways, times)),
  };
}

const userOf = (bytes: number): string => `bodies-of-${bytes}`;
const bodyOf = (bytes: number): string => "All that is known about it.\n".repeat(bytes / 28 + 1).slice(0, bytes);

async function fill(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir, durability: "relaxed" });
  for (const bytes of sizes) {
    for (let at = 0; at < entriesCount; at++) {
      const input = upsertInput(at, -1, bodyOf(bytes));
      const result = await runtime.call("UpdateUserMemory", input, { userId: userOf(bytes) });
      if (!result.ok) throw new Error(result.error.message);
    }
  }
}

function contestants(ways: readonly ToolWay[], dataDir: string): Contestant[] {
  const environmentFor = callEnvironments(dataDir);
  return operations.flatMap((operation) =>
    sizes.flatMap((bytes) =>
      ways.map((way) => ({
        key: keyOf(operation, bytes, way),
        prepare: async () => way.prepare?.(),
        run: async ({ at, round }) => {
          const entry = at % entriesCount;
          const input =
            operation.key === "read" ? { name: entryName(entry) } : upsertInput(entry, round, bodyOf(bytes));
          using environment = environmentFor(userOf(bytes));
          const { tool, exportName } = operation;
          await way.run({ tool, exportName, input: JSON.stringify(input), environment });
        },
      })),
    ),
  );
}

const keyOf = ({ key }: Operation, bytes: number, way: ToolWay): string => `${key}-${bytes}-${way.key}`;

function tableOf(operation: Operation, ways: readonly ToolWay[], times: Times): Table {
  const [direct] = ways;
  const figures = sizes.flatMap((bytes) => {
    const directRounds = direct ? timesOf(times, keyOf(operation, bytes, direct)) : [];
    return ways.map((way) =>
      figureOf({
        key: `${bytes}-${way.isOurs ? "ours" : way.key}`,
        name: `${shownBytes(bytes)}, ${way.name}`,
        rounds: timesOf(times, keyOf(operation, bytes, way)),
        against: { key: `${bytes}-direct`, rounds: directRounds, differenceIn: "ms" },
        judge: (added): Target[] => (way.isOurs && bytes === promisedBytes ? [judged(targets.sandboxAdds, added)] : []),
      }),
    );
  });
  return { key: `sandbox-${operation.key}`, title: `${operation.tool}, added by the sandbox`, unit: "ms", figures };
}

const shownBytes = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${bytes / 1024} KB`);
