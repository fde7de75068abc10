/** 5. The cold start, the memory of threads, the size of the plugin. Each sample is its own process. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { createRuntime } from "memcell";

import type { BenchRun } from "../bench-run.ts";
import { upsertInput } from "../entry.ts";
import { figureOf } from "../figure.ts";
import type { Figure, Section, Table } from "../results.ts";
import { judged, targets } from "../targets.ts";
import type { Bound } from "../targets.ts";
import { askProcess, timeProcess } from "./processes.ts";

const scriptAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const threadCounts = [1, 2, 3, 4] as const;

export async function measureCold(run: BenchRun): Promise<Section> {
  const dataDir = join(run.folder, "cold");
  await storeOne(dataDir);
  return {
    number: 5,
    title: "Cold start, memory, size",
    notes: [
      "every sample is a new process; the files it loads are in the system's cache",
      "memory is resident memory of the whole process after each thread has served calls, all at once",
    ],
    tables: [await startTable(run, dataDir), await memoryTable(run), sizeTable()],
  };
}

async function storeOne(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir });
  await runtime.call("UpdateUserMemory", upsertInput(0, 0), { userId: "alice" });
}

async function startTable(run: BenchRun, dataDir: string): Promise<Table> {
  const command = scriptAt("../../../host/cli/main.js");
  const options = ["--user", "alice", "--data", dataDir, "--input", '{"name":"e0"}'];
  const samples = { node: [], output: [], exit: [], runtime: [] } as Record<string, number[][]>;
  for (let round = -1; round < run.rounds; round++) {
    if (round >= 0) run.noise.sampleRound();
    const bare = await timeProcess(["-e", "0"]);
    const called = await timeProcess([command, "call", "ReadUserMemory", ...options]);
    const first = await askProcess<{ firstResultMs: number }>(scriptAt("first-call-process.js"), [dataDir]);
    if (round < 0) continue;
    samples["node"]?.push([bare.exitMs]);
    samples["output"]?.push([called.firstOutputMs]);
    samples["exit"]?.push([called.exitMs]);
    samples["runtime"]?.push([first.firstResultMs]);
  }
  const figure = (key: string, name: string, target?: Bound) =>
    figureOf({
      key,
      name,
      rounds: samples[key] ?? [],
      ...(target && { judge: (found) => [judged(target, found)] }),
    });
  return {
    key: "cold",
    title: "Cold start",
    unit: "ms",
    figures: [
      figure("node", "Node alone, start to end, for comparison"),
      figure("output", "memcell call, process start to first result", targets.cliFirstResult),
      figure("exit", "memcell call, process start to its end"),
      figure("runtime", "createRuntime to first result, in a new process", targets.runtimeFirstResult),
    ],
  };
}

async function memoryTable(run: BenchRun): Promise<Table> {
  const rounds = run.isQuick ? 2 : 5;
  const samples = new Map<number, number[][]>(threadCounts.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++) {
    for (const count of threadCounts) {
      const dataDir = join(run.folder, `threads-${round}-${count}`);
      mkdirSync(dataDir);
      const { residentMb } = await askProcess<{ residentMb: number }>(scriptAt("threads-process.js"), [
        dataDir,
        `${count}`,
      ]);
      samples.get(count)?.push([residentMb]);
    }
  }
  const of = (count: number): number[][] => samples.get(count) ?? [];
  const figures = threadCounts.map((count) =>
    figureOf({
      key: `${count}`,
      name: count === 1 ? "1 thread" : `${count} threads`,
      rounds: of(count),
      against: { key: "1", rounds: of(1), differenceIn: "MB" },
    }),
  );
  const [one, most] = [of(1), of(4)];
  const each = most.map((round, at) => [((round[0] ?? 0) - (one[at]?.[0] ?? 0)) / 3]);
  const further = figureOf({
    key: "further",
    name: "each further thread, from 1 to 4",
    rounds: each,
    judge: (found) => [judged(targets.furtherWorker, found)],
  });
  return { key: "memory", title: "Memory of the process", unit: "MB", figures: [...figures, further] };
}

function sizeTable(): Table {
  const file = readFileSync(fileURLToPath(import.meta.resolve("memcell/plugins/user-memory.wasm")));
  return {
    key: "size",
    title: "Size of the plugin",
    unit: "MB",
    figures: [
      sizeFigure("plain", "user-memory.wasm", file.length, targets.pluginBytes),
      sizeFigure("zipped", "gzipped", gzipSync(file).length, targets.pluginZippedBytes),
    ],
  };
}

function sizeFigure(key: string, name: string, bytes: number, target: Bound): Figure {
  return figureOf({ key, name, rounds: [[bytes / 1e6]], judge: (found) => [judged(target, found)] });
}
