/** Runtimes under policies that take something away. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { LogEntry, PolicyFile, Runtime, RuntimeOptions } from "memcell";
import { expect } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

export type GrantedTools = PolicyFile["plugins"][string]["tools"];

export const alice = { userId: "alice" };
export const readsMemory = { rights: ["read"], scopes: ["memory"] } as const;

/** Leaves one tool of the plugin `user-memory`. */
export const onlyRead: PolicyFile = {
  version: 1,
  plugins: { "user-memory": { tools: { ReadUserMemory: readsMemory } } },
};

/** What a call answers for a tool that nobody can call. */
export const unknownTool = (message: unknown = expect.any(String)): object => ({
  ok: false,
  error: { code: "TOOL_UNKNOWN", message },
});

export interface Narrowed extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** What the operator is told at the start. */
  readonly lines: readonly string[];
}

/** Opens a runtime on a data folder of its own. */
export async function openNarrowed(
  policy: PolicyFile | string,
  plugins: readonly string[],
  options: Partial<RuntimeOptions> = {},
): Promise<Narrowed> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const entries: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void entries.push(entry);
  const runtime = await createRuntime({ dataDir, plugins, policy, threadsMax: 1, onLog, ...options });
  return {
    runtime,
    dataDir,
    lines: entries.map(({ level, tool, text }) => `${level} ${tool}: ${text}`),
    [Symbol.asyncDispose]: async () => {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** The shipped policy's grants of one plugin, changed. */
export function grantsOf(
  plugin: string,
  change: (tools: Record<string, GrantedTools[string]>) => void = () => {},
): PolicyFile {
  const file = readFileSync(new URL(import.meta.resolve("memcell/default-policy.json")), "utf8");
  const { tools } = (JSON.parse(file) as PolicyFile).plugins[plugin] ?? { tools: {} };
  const changed = { ...tools };
  change(changed);
  return { version: 1, plugins: { [plugin]: { tools: changed } } };
}
