/** Runs of agents in a data folder, and `memcell runs` on them. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";

export const program: string = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

export interface StoredEvent {
  readonly type: string;
  readonly timestamp: string;
  /** JSON text. */
  readonly data: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface StoredRun {
  readonly agentId: string;
  readonly runId: string;
  readonly events: readonly StoredEvent[];
}

/** `data` is written as JSON text. */
export function event(type: string, second: string, data: object): StoredEvent {
  return { type, timestamp: `2026-01-01T10:00:${second}Z`, data: JSON.stringify(data) };
}

/** Appends in batches that fit into an input. */
export async function storeRuns(dataDir: string, userId: string, runs: readonly StoredRun[]): Promise<void> {
  await using runtime = await createRuntime({ dataDir, plugins: ["run-history"], threadsMax: 1 });
  const batch = 300;
  for (const { agentId, runId, events } of runs) {
    for (let at = 0; at < events.length; at += batch) {
      const input = { agentId, runId, events: events.slice(at, at + batch) };
      const result = await runtime.callAsHost("run-history/AppendRunEvents", input, { userId });
      if (!result.ok) throw new Error(result.error.message);
    }
  }
}

export function memcellRuns(dataDir: string, ...args: readonly string[]) {
  const options = { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  return spawnSync(process.execPath, [program, "runs", "--data", dataDir, ...args], options);
}
