/** The place where movements are played: a runtime with an audit log, and scripted models. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";

import { readRecords } from "../audit/audited-stage.ts";
import type { AuditRecord } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import type { Movement, ToolReply } from "./messages.ts";
import { playMovement } from "./movement.ts";
import { scriptedModel } from "./scripted-model.ts";
import type { ScriptedModel, ScriptedTurn } from "./scripted-model.ts";

type CallRecord = Extract<AuditRecord, { kind: "call" }>;

export interface Theatre extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Plays a user's movement with a scripted model. */
  readonly play: (userId: string, movement: string, ...turns: ScriptedTurn[]) => Promise<ScriptedModel>;
  /** Without those that record the run. */
  calls(): CallRecord[];
  /** Those that record the run. */
  appends(): CallRecord[];
  /** A user's memory, by path in the user's folder. Empty for a user without a folder. */
  filesOf(userId: string): Record<string, string>;
}

export const movementNamed = (name: string): Movement => ({
  name,
  agent: "planner",
  run: "journey",
  instructions: "You plan journeys.",
  task: "Plan the next one.",
});

/** What a tool has answered, without the lines that say where entries come from. */
export function contentOf(reply: ToolReply | undefined): unknown {
  const content = JSON.parse(reply?.content ?? "null") as { readonly answer?: unknown } | null;
  return content?.answer ?? content;
}

const readWebPage = (url: URL): Promise<string> => Promise.resolve(`What ${url.host} says.`);

export async function openTheatre(options: Partial<RuntimeOptions> = {}): Promise<Theatre> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const file = join(folder.path, "log", "audit.jsonl");
  const runtime = await createRuntime({
    dataDir,
    plugins: shippedNames(),
    threadsMax: 2,
    auditLog: { file },
    ...options,
  });
  const calls = (): CallRecord[] => readRecords(file).filter((record) => record.kind === "call");
  return {
    runtime,
    dataDir,
    async play(userId, movement, ...turns) {
      const script = scriptedModel(...turns);
      const stage = { runtime, model: script.model, readWebPage };
      await playMovement(stage, movementNamed(movement), { userId });
      return script;
    },
    calls: () => calls().filter(({ tool }) => tool !== "LoadRun" && tool !== "AppendRunEvents"),
    appends: () => calls().filter(({ tool }) => tool === "AppendRunEvents"),
    filesOf: (userId) => {
      const files = userFolderNames(dataDir).includes(userId) ? readUserFiles(dataDir, userId) : {};
      return Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith("runs/")));
    },
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}
