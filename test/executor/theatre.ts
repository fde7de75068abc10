/** The place where movements are played: a runtime with an audit log, and scripted models. */
import type { RuntimeOptions } from "memcell";

import type { AuditRecord } from "../stage/audit-log.ts";
import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import type { Movement, ToolReply } from "./messages.ts";
import { playMovement } from "./movement.ts";
import { scriptedModel } from "./scripted-model.ts";
import type { ScriptedModel, ScriptedTurn } from "./scripted-model.ts";

type CallRecord = Extract<AuditRecord, { kind: "call" }>;

export interface Theatre extends AsyncDisposable, Pick<RuntimeStage, "runtime" | "dataDir"> {
  /** Plays a user's movement with a scripted model. */
  readonly play: (userId: string, movement: string, ...turns: ScriptedTurn[]) => Promise<ScriptedModel>;
  /** A user's calls, without those that record the run. */
  calls(userId: string): CallRecord[];
  /** Those that record the run. */
  appends(userId: string): CallRecord[];
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

/** The data, or the error, of what a tool has answered. */
export function contentOf(reply: ToolReply | undefined): unknown {
  const json = reply?.content.split("\n").find((line) => line.startsWith("{"));
  const content = JSON.parse(json ?? "null") as { readonly error?: unknown } | null;
  return content?.error ?? content;
}

const readWebPage = (url: URL): Promise<string> => Promise.resolve(`What ${url.host} says.`);

export async function openTheatre(options: Partial<RuntimeOptions> = {}): Promise<Theatre> {
  const stage = await openStage(options);
  const { runtime, dataDir } = stage;
  const calls = (userId: string): CallRecord[] => stage.records(userId).filter((record) => record.kind === "call");
  return {
    runtime,
    dataDir,
    async play(userId, movement, ...turns) {
      const script = scriptedModel(...turns);
      await playMovement({ runtime, model: script.model, readWebPage }, movementNamed(movement), { userId });
      return script;
    },
    calls: (userId) => calls(userId).filter(({ tool }) => tool !== "LoadRun" && tool !== "AppendRunEvents"),
    appends: (userId) => calls(userId).filter(({ tool }) => tool === "AppendRunEvents"),
    filesOf: (userId) =>
      Object.fromEntries(Object.entries(stage.files(userId)).filter(([path]) => !path.startsWith("runs/"))),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}
