/**
 * How an executor of agents uses memcell. A model plays one movement of a task for one user, with the user's memory and
 * the run's last turns in the prompt, and the tools to change the memory. An adapter for a real model does the same. It
 * needs only the package's public API.
 */
import { ToolError } from "memcell";
import type { CallContext, Runtime } from "memcell";

import type { Model, Movement, ToolReply, ToolUse } from "./messages.ts";
import { definitionOfPages, pagesTool } from "./pages-tool.ts";
import type { PlayedTurn } from "./played-movements.ts";
import { RunRecord } from "./run-record.ts";

export interface Stage {
  readonly runtime: Runtime;
  readonly model: Model;
}

/** Stops a model that goes round in circles. */
const turnsMax = 20;

/**
 * Plays a movement and resolves to the model's last words. A movement that broke off earlier goes on where it was.
 * Rejects with the signal's reason when it is cancelled.
 */
export async function playMovement(
  { runtime, model }: Stage,
  movement: Movement,
  { userId, signal }: Pick<CallContext, "userId" | "signal">,
): Promise<string> {
  const { name, agent, instructions } = movement;
  const ctx: CallContext = { userId, signal, labels: { movement: name, agent } };
  const record = await RunRecord.open(runtime, movement, ctx);
  // Each movement reads the index again, because the previous one can have changed it. Empty for a new user.
  const system = `${instructions}\n${await runtime.memoryIndex(ctx)}`;
  const tools = [...runtime.tools({ format: "anthropic" }), definitionOfPages];
  const nextTurn = async (): Promise<PlayedTurn> => {
    if (record.turns.length >= turnsMax) {
      throw new Error(`The model has not ended movement "${name}" after ${turnsMax} turns`);
    }
    signal?.throwIfAborted();
    return await record.addTurn(await model({ system, tools, messages: record.messages() }));
  };
  let played = record.turns.at(-1) ?? (await nextTurn());
  while (played.turn.toolUses.length > 0) {
    const { turn, replies } = played;
    const open = Array.from(turn.toolUses.keys()).filter((at) => replies[at] === undefined);
    // All at once: the runtime runs one user's calls in the order in which they are made.
    // oxlint-disable-next-line no-await-in-loop -- each turn answers the one before
    await Promise.all(open.map((at) => answer(runtime, record, { at, ctx })));
    // oxlint-disable-next-line no-await-in-loop -- as above
    played = await nextTurn();
  }
  return played.turn.text;
}

/** Makes the last turn's tool call at a place. */
async function answer(
  runtime: Runtime,
  record: RunRecord,
  { at, ctx }: { readonly at: number; readonly ctx: CallContext },
): Promise<void> {
  const toolUse = record.turns.at(-1)?.turn.toolUses[at];
  if (toolUse === undefined) return;
  const start = process.hrtime.bigint();
  const reply = await replyTo(runtime, toolUse, ctx);
  ctx.signal?.throwIfAborted();
  await record.addReply(at, reply, process.hrtime.bigint() - start);
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
