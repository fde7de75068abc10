/**
 * How an executor of agents uses memcell: it has a model play one movement of a task for one user, and hands it what the
 * user's memory holds and the tools to change it. It needs nothing but the package's public face; what it does is all that
 * an adapter for a real model has to do.
 */
import { ToolError } from "memcell";
import type { CallContext, Runtime } from "memcell";

import { definitionOfPages, definitionsWithInputSchema, pagesTool } from "./tool-definitions.ts";
import type { InputSchemaDefinition } from "./tool-definitions.ts";

/** A tool that the model wants called. */
export interface ToolUse {
  /** The model's own, which names the call in the audit log. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** What came of it, as the model is told. */
export interface ToolReply {
  readonly id: string;
  readonly isError: boolean;
  /** JSON text. */
  readonly content: string;
}

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly InputSchemaDefinition[];
  /** What the movement is about, and then each turn of the model with what its tool calls came to. */
  readonly messages: readonly (string | ModelTurn | readonly ToolReply[])[];
}

/** A turn without tool uses is the movement's end. */
export interface ModelTurn {
  readonly text: string;
  readonly toolUses: readonly ToolUse[];
}

export type Model = (request: ModelRequest) => Promise<ModelTurn>;

export interface Movement {
  readonly name: string;
  readonly agent: string;
  readonly instructions: string;
  readonly task: string;
}

export interface Stage {
  readonly runtime: Runtime;
  readonly model: Model;
}

/** A model that goes round in circles is stopped. */
const turnsMax = 20;

/** Plays a movement, and resolves to the model's last words. Rejects with the signal's reason when it is cancelled. */
export async function playMovement(
  { runtime, model }: Stage,
  { name, agent, instructions, task }: Movement,
  { userId, signal }: Pick<CallContext, "userId" | "signal">,
): Promise<string> {
  const ctx: CallContext = { userId, signal, labels: { movement: name, agent } };
  // The index is made anew for each movement: it tells what the one before has written. Empty for a new user.
  const system = `${instructions}\n${await runtime.memoryIndex(ctx)}`;
  const tools = [...definitionsWithInputSchema(runtime.tools()), definitionOfPages];
  const messages: ModelRequest["messages"][number][] = [task];
  for (let turns = 0; turns < turnsMax; turns++) {
    signal?.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- each turn answers the one before
    const turn = await model({ system, tools, messages: [...messages] });
    if (turn.toolUses.length === 0) return turn.text;
    // At once: the runtime lets calls of one user take turns, in the order in which they are made.
    const replies = turn.toolUses.map((toolUse) => replyTo(runtime, toolUse, ctx));
    // oxlint-disable-next-line no-await-in-loop -- as above
    messages.push(turn, await Promise.all(replies));
  }
  throw new Error(`The model has not ended movement "${name}" after ${turnsMax} turns`);
}

/** Whatever the model has asked for, it gets an answer that it can go on with. */
async function replyTo(runtime: Runtime, { id, name, input }: ToolUse, ctx: CallContext): Promise<ToolReply> {
  const result =
    name === pagesTool ? describeTool(runtime, input) : await runtime.call(name, input, { ...ctx, callId: id });
  // The message and the code say what to do better; nothing in them is meant for operators only.
  return { id, isError: !result.ok, content: JSON.stringify(result.ok ? result.data : result.error) };
}

/** The executor's own function: a tool's page is long, and most models never need it. */
function describeTool(runtime: Runtime, input: unknown): PageResult {
  const name = typeof input === "object" && input !== null && "name" in input ? String(input.name) : "";
  try {
    return { ok: true, data: { page: runtime.documentation(name) } };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { code, message } = error;
    return { ok: false, error: { code, message } };
  }
}

type PageResult =
  | { readonly ok: true; readonly data: { readonly page: string | null } }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };
