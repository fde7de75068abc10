/** A runtime with only the plugin `run-history`, on a fresh folder. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";
import { RunHistory } from "memcell/run-history";

import { temporaryFolder } from "../support/temporary-folder.ts";

export interface OpenHistory extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Of the user alice. */
  readonly history: RunHistory;
}

export async function openHistory(options: Partial<RuntimeOptions> = {}): Promise<OpenHistory> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const runtime = await createRuntime({ dataDir, plugins: ["run-history"], threadsMax: 1, ...options });
  return {
    runtime,
    dataDir,
    history: new RunHistory(runtime, { userId: "alice" }),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}
