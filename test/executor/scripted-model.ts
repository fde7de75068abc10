/** A model with prepared turns, which records what it gets. */
import type { Model, ModelRequest, ModelTurn, ToolReply, ToolUse } from "./messages.ts";

/** One turn: the tools to call, depending on the results of the previous turn. */
export type ScriptedTurn = (replies: readonly ToolReply[]) => readonly ToolUse[];

export interface ScriptedModel {
  readonly model: Model;
  /** In order. */
  readonly requests: ModelRequest[];
  /** The results of all tool calls so far. */
  readonly replies: ToolReply[];
}

/** After the last turn it ends the movement. */
export function scriptedModel(...turns: readonly ScriptedTurn[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  const replies: ToolReply[] = [];
  const model: Model = async (request): Promise<ModelTurn> => {
    requests.push(request);
    const answered = repliesIn(request);
    replies.push(...answered);
    const turn = turns[turnsSoFar(request)];
    return turn ? { text: "", toolUses: turn(answered) } : { text: "done", toolUses: [] };
  };
  return { model, requests, replies };
}

/** In this movement, whose task is the last text. Each has the results of its tool calls after it. */
function turnsSoFar({ messages }: ModelRequest): number {
  return (messages.length - 1 - messages.findLastIndex((message) => typeof message === "string")) / 2;
}

function repliesIn({ messages }: ModelRequest): readonly ToolReply[] {
  const last = messages.at(-1);
  return Array.isArray(last) ? (last as readonly ToolReply[]) : [];
}

/** A tool use in the model's form. */
export const use = (id: string, name: string, input: unknown): ToolUse => ({ id, name, input });

export const upsert = (id: string, name: string, description: string): ToolUse =>
  use(id, "UpdateUserMemory", { action: "upsert", name, type: "user", description, body: `All about ${name}.` });
