/** The cold start, the memory of threads, the size of the plugin. Each sample is its own process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { createRuntime } from "memcell";

import { expectOk, upsertInput } from "../entry.ts";
import { bounds, figureOf } from "../figures.ts";
import type { Section } from "../results.ts";
import { takeTurns } from "../take-turns.ts";
import type { BenchRun, Step } from "../take-turns.ts";

const scriptAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const threadsMost = 4;

export async function measureCold(run: BenchRun): Promise<Section> {
  const dataDir = join(run.folder, "cold");
  await storeOne(dataDir);
  const command = [scriptAt("../../../host/cli/main.js"), "call", "ReadUserMemory", "--user", "alice"];
  const call = [...command, "--data", dataDir, "--input", '{"name":"e0"}'];
  const asked = async (...args: string[]): Promise<number> =>
    Number((await outputOf([scriptAt("processes.js"), ...args])).text);
  const memoryOf =
    (threads: number) =>
    ({ round }: Step): Promise<number> =>
      asked("threads", join(run.folder, `threads-${round}-${threads}`), `${threads}`);
  const found = await takeTurns(
    run,
    [
      { key: "output", run: async () => (await outputOf(call)).firstOutputMs },
      { key: "runtime", run: () => asked("first-call", dataDir) },
      { key: "one", run: memoryOf(1) },
      { key: "most", run: memoryOf(threadsMost) },
    ],
    { passes: 1, block: 1 },
  );
  const one = found("one");
  const further = found("most").map(([mb = 0], at) => [(mb - (one[at]?.[0] ?? 0)) / (threadsMost - 1)]);
  const plugin = readFileSync(fileURLToPath(import.meta.resolve("memcell/plugins/user-memory.wasm")));
  const row = (key: string, name: string, rounds: number[][] | ReturnType<typeof found>, bound: keyof typeof bounds) =>
    figureOf({ key, name, rounds, bound: bounds[bound] });
  return {
    title: "Cold start, memory, size",
    notes: [
      "every sample is a new process; the files it loads are in the system's cache",
      "memory is resident memory of the whole process after each thread has served calls, all at once",
    ],
    tables: [
      {
        key: "cold",
        title: "Cold start",
        unit: "ms",
        figures: [
          row("output", "memcell call, process start to first result", found("output"), "cliFirstResult"),
          row("runtime", "createRuntime to first result, in a new process", found("runtime"), "runtimeFirstResult"),
        ],
      },
      {
        key: "memory",
        title: "Memory of the process",
        unit: "MB",
        figures: [row("further", "each further thread, from 1 to 4", further, "furtherWorker")],
      },
      {
        key: "size",
        title: "Size of the plugin",
        unit: "MB",
        figures: [
          row("plain", "user-memory.wasm", [[plugin.length / 1e6]], "pluginBytes"),
          row("zipped", "gzipped", [[gzipSync(plugin).length / 1e6]], "pluginZippedBytes"),
        ],
      },
    ],
  };
}

async function storeOne(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir });
  await expectOk(runtime.call("UpdateUserMemory", upsertInput(0, 0), { userId: "alice" }));
}

/** What a new process of Node prints, and how soon. */
async function outputOf(args: readonly string[]): Promise<{ text: string; firstOutputMs: number }> {
  const startMs = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let firstOutputMs = Number.NaN;
  child.stdout.once("data", () => {
    firstOutputMs = performance.now() - startMs;
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`A measured process ended with ${code}`);
  return { text: output, firstOutputMs };
}
