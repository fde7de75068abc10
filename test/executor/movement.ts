/**
 * How an executor of agents uses memcell. A model plays one movement of a task for one user, with the user's memory in
 * the prompt and the tools to change it. An adapter for a real model does the same. It needs only the package's public
 * API.
 */
import { ToolError } from "memcell";
import type { CallContext, Runtime } from "memcell";

import { definitionOfPages, definitionsWithInputSchema, pagesTool } from "./tool-definitions.ts";
import type { InputSchemaDefinition } from "./tool-definitions.ts";

/** A tool call that the model requests. */
export interface ToolUse {
  /** The model's own id, which the audit log uses as the call id. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The result of a tool call, for the model. */
export interface ToolReply {
  readonly id: string;
  readonly isError: boolean;
  /** JSON text. */
  readonly content: string;
}

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly InputSchemaDefinition[];
  /** The task, and then each turn of the model with the results of its tool calls. */
  readonly messages: readonly (string | ModelTurn | readonly ToolReply[])[];
}

/** A turn without tool uses ends the movement. */
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

/** Stops a model that goes round in circles. */
const turnsMax = 20;

/** Plays a movement and resolves to the model's last words. Rejects with the signal's reason when it is cancelled. */
export async function playMovement(
  { runtime, model }: Stage,
  { name, agent, instructions, task }: Movement,
  { userId, signal }: Pick<CallContext, "userId" | "signal">,
): Promise<string> {
  const ctx: CallContext = { userId, signal, labels: { movement: name, agent } };
  // Each movement reads the index again, because the previous one can have changed it. Empty for a new user.
  const system = `${instructions}\n${await runtime.memoryIndex(ctx)}`;
  const tools = [...definitionsWithInputSchema(runtime.tools()), definitionOfPages];
  const messages: ModelRequest["messages"][number][] = [task];
  for (let turns = 0; turns < turnsMax; turns++) {
    signal?.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- each turn answers the one before
    const turn = await model({ system, tools, messages: [...messages] });
    if (turn.toolUses.length === 0) return turn.text;
    // All at once: the runtime runs one user's calls in the order in which they are made.
    const replies = turn.toolUses.map((toolUse) => replyTo(runtime, toolUse, ctx));
    // oxlint-disable-next-line no-await-in-loop -- as above
    messages.push(turn, await Promise.all(replies));
  }
  throw new Error(`The model has not ended movement "${name}" after ${turnsMax} turns`);
}

/** Always returns an answer with which the model can go on. */
async function replyTo(runtime: Runtime, { id, name, input }: ToolUse, ctx: CallContext): Promise<ToolReply> {
  const result =
    name === pagesTool ? describeTool(runtime, input) : await runtime.call(name, input, { ...ctx, callId: id });
  // Message and code say how to correct the call, and contain nothing for operators only.
  return { id, isError: !result.ok, content: JSON.stringify(result.ok ? result.data : result.error) };
}

/** The executor's own tool: a tool's page is long, and most models do not need it. */
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
