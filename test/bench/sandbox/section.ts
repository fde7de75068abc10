/** 2. The cost of the sandbox: the same tools, directly in Node and in the guest, in one thread, without commit. */
import { join } from "node:path";

import { createRuntime } from "memcell";

import { entryName, expectOk, upsertInput } from "../entry.ts";
import { bounds, figureOf } from "../figures.ts";
import type { Section, Table } from "../results.ts";
import { takeTurns } from "../take-turns.ts";
import type { BenchRun, Contestant, Found } from "../take-turns.ts";
import { directWay } from "./direct-way.ts";
import { callEnvironments, restoredGuest } from "./guest.ts";
import type { ToolWay } from "./guest.ts";

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
  const ways = [await directWay(run.folder), await restoredGuest("user-memory")];
  const found = await takeTurns(run, contestants(ways, dataDir), { passes: run.isQuick ? 1 : 3, block: 10 });
  return {
    number: 2,
    title: "What the sandbox costs",
    notes: [
      "the tool's own code and its reads of a folder of 10 entries; no threads, no lock, no commit",
      "added: what a call takes longer than the same code in Node",
    ],
    tables: operations.map((operation) => tableOf(operation, ways, found)),
  };
}

const userOf = (bytes: number): string => `bodies-of-${bytes}`;
const bodyOf = (bytes: number): string => "All that is known about it.\n".repeat(bytes / 28 + 1).slice(0, bytes);

async function fill(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir, durability: "relaxed" });
  for (const bytes of sizes) {
    for (let at = 0; at < entriesCount; at++) {
      const input = upsertInput(at, -1, bodyOf(bytes));
      await expectOk(runtime.call("UpdateUserMemory", input, { userId: userOf(bytes) }));
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

const keyOf = ({ key }: Operation, bytes: number, way: Pick<ToolWay, "key">): string => `${key}-${bytes}-${way.key}`;

function tableOf(operation: Operation, ways: readonly ToolWay[], found: Found): Table {
  const figures = sizes.flatMap((bytes) => {
    const direct = found(keyOf(operation, bytes, { key: "direct" }));
    return ways.map((way) =>
      figureOf({
        key: `${bytes}-${way.key}`,
        name: `${bytes < 1024 ? `${bytes} B` : `${bytes / 1024} KB`}, ${way.name}`,
        rounds: found(keyOf(operation, bytes, way)),
        against: { key: `${bytes}-direct`, rounds: direct, differenceIn: "ms" },
        bound: way.key === "ours" && bytes === promisedBytes ? bounds.sandboxAdds : undefined,
      }),
    );
  });
  return { key: `sandbox-${operation.key}`, title: `${operation.tool}, added by the sandbox`, unit: "ms", figures };
}
