/**
 * How an executor of agents uses memcell. A model plays one movement of a task for one user, with the user's memory and
 * the run's last turns in the prompt, and the tools to change the memory. An adapter for a real model does the same. It
 * needs only the package's public API.
 */
import { modelAnswer, ToolError } from "memcell";
import type { CallContext, ModelAnswer, Runtime } from "memcell";

import type { Model, Movement, ToolReply, ToolUse } from "./messages.ts";
import { ofModel, ofTool, ofUser } from "./origins.ts";
import { definitionOfPages, definitionOfWebPage, pagesTool, urlIn, webPageTool } from "./own-tools.ts";
import type { ReadWebPage } from "./own-tools.ts";
import { openRunRecord } from "./run-record.ts";
import type { PlayedTurn, RunRecord } from "./run-record.ts";

export interface Stage {
  readonly runtime: Runtime;
  readonly model: Model;
  /** Default: the model reads no pages. */
  readonly readWebPage?: ReadWebPage;
}

/** Stops a model that goes round in circles. */
const turnsMax = 20;

/**
 * Plays a movement and resolves to the model's last words. A movement that broke off earlier goes on where it was.
 * Rejects with the signal's reason when it is cancelled.
 */
export async function playMovement(
  stage: Stage,
  movement: Movement,
  { userId, signal }: Pick<CallContext, "userId" | "signal">,
): Promise<string> {
  const { runtime, model, readWebPage } = stage;
  const { name, agent, instructions } = movement;
  const ctx = ofUser({ userId, signal, labels: { movement: name, agent } }, movement);
  const record = await openRunRecord(runtime, movement, ctx);
  // Each movement reads the index again, because the previous one can have changed it. Empty for a new user.
  const system = `${instructions}\n${runtime.instructions()}\n${await runtime.memoryIndex(ctx)}`;
  const tools = [
    ...runtime.tools({ format: "anthropic" }),
    definitionOfPages,
    ...(readWebPage ? [definitionOfWebPage] : []),
  ];
  const nextTurn = async (): Promise<PlayedTurn> => {
    if (record.turns.length >= turnsMax) {
      throw new Error(`The model has not ended movement "${name}" after ${turnsMax} turns`);
    }
    signal?.throwIfAborted();
    const messages = record.messages();
    return await record.addTurn(await model({ system, tools, messages }), ofModel(ctx, messages));
  };
  let played = record.turns.at(-1) ?? (await nextTurn());
  while (played.turn.toolUses.length > 0) {
    const { turn, replies } = played;
    const open = Array.from(turn.toolUses.keys()).filter((at) => replies[at] === undefined);
    // What the model had got when it made this turn: the turn's own replies are not among these messages yet.
    const ofTurn = ofModel(ctx, record.messages());
    // All at once: the runtime runs one user's calls in the order in which they are made.
    // oxlint-disable-next-line no-await-in-loop -- each turn answers the one before
    await Promise.all(open.map((at) => answer(stage, record, { at, ctx: ofTurn })));
    // oxlint-disable-next-line no-await-in-loop -- as above
    played = await nextTurn();
  }
  return played.turn.text;
}

/** Makes the last turn's tool call at a place. */
async function answer(
  stage: Stage,
  record: RunRecord,
  { at, ctx }: { readonly at: number; readonly ctx: CallContext },
): Promise<void> {
  const toolUse = record.turns.at(-1)?.turn.toolUses[at];
  if (toolUse === undefined) return;
  const reply = await replyTo(stage, toolUse, ctx);
  ctx.signal?.throwIfAborted();
  await record.addReply(at, reply, ofTool(ctx, toolUse));
}

/** Always returns an answer with which the model can go on. */
async function replyTo(stage: Stage, { id, name, input }: ToolUse, ctx: CallContext): Promise<ToolReply> {
  const { runtime, readWebPage } = stage;
  const call = async (): Promise<ModelAnswer> => {
    if (name === pagesTool) return describeTool(runtime, input);
    if (name === webPageTool && readWebPage) return await readPage(readWebPage, input);
    return modelAnswer(await runtime.call(name, input, { ...ctx, callId: id }));
  };
  const { text: content, isError } = await call();
  return { id, isError, content };
}

/** The executor's own tool: a tool's page is long, and most models do not need it. */
function describeTool(runtime: Runtime, input: unknown): ModelAnswer {
  const name = typeof input === "object" && input !== null && "name" in input ? String(input.name) : "";
  try {
    return { text: runtime.documentation(name) ?? "The tool has no page", isError: false };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { text: error.message, isError: true };
  }
}

async function readPage(read: ReadWebPage, input: unknown): Promise<ModelAnswer> {
  const url = urlIn(input);
  if (url === null) return { text: "url is no address", isError: true };
  try {
    return { text: await read(url), isError: false };
  } catch {
    return { text: "Cannot read the page", isError: true };
  }
}
