/**
 * An agent's run, recorded as it happens: an agent that is started again continues where it was. Each append has an id,
 * so what is recorded twice is stored once.
 */
import {
  assistantMessageData,
  decodeAssistantMessageData,
  decodeToolCallData,
  decodeToolResultData,
  newEvent,
  RunHistory,
  toolCallData,
  toolResultData,
  userMessageData,
} from "memcell/run-history";
import type { Event, EventData, RunHistoryContext, RunHistoryRuntime } from "memcell/run-history";

import type { Message, ModelTurn, Movement, ToolReply, ToolUse } from "./messages.ts";

/** How many messages of earlier movements a model gets. */
const messagesBackMax = 20;

/** A longer result is recorded in part: an event has at most 256 KiB. */
const contentCharsMax = 30_000;

/** The label of a movement's events. */
const movementLabel = "movement";

/** A turn with the replies so far, at the places of their tool uses. */
export interface PlayedTurn {
  readonly turn: ModelTurn;
  readonly replies: (ToolReply | undefined)[];
}

interface PlayedMovement {
  readonly task: string;
  readonly turns: PlayedTurn[];
}

export interface RunRecord {
  /** This movement's turns so far, also those of an earlier attempt. */
  readonly turns: readonly PlayedTurn[];
  messages(): Message[];
  /** Records a turn before its tools are called, so that a process that ends meanwhile does not ask the model again. */
  addTurn(turn: ModelTurn, ctx: RunHistoryContext): Promise<PlayedTurn>;
  /** Records the reply to one of the last turn's tool uses. */
  addReply(at: number, reply: ToolReply, ctx: RunHistoryContext): Promise<void>;
}

/** Reads the run, and records the movement's task. Each context says where the recorded text comes from. */
export async function openRunRecord(
  runtime: RunHistoryRuntime,
  { agent, run, name, task }: Movement,
  ctx: RunHistoryContext,
): Promise<RunRecord> {
  const append = async (step: string, data: readonly EventData[], of: RunHistoryContext): Promise<void> => {
    const events = data.map((each) => newEvent(undefined, each, { [movementLabel]: name }));
    await new RunHistory(runtime, of).append(agent, run, events, { appendId: `${name}/${step}` });
  };
  const played = playedMovements((await new RunHistory(runtime, ctx).load(agent, run)).events);
  const turns = played.get(name)?.turns ?? [];
  if (!played.delete(name)) await append("task", [userMessageData({ message: task })], ctx);
  const earlier = latest([...played.values()].flatMap(messagesOf));
  return {
    turns,
    messages: () => [...earlier, ...messagesOf({ task, turns })],
    async addTurn(turn, of) {
      const calls = turn.toolUses.map((use) =>
        toolCallData({ toolCallId: use.id, toolName: use.name, payload: JSON.stringify(use.input) ?? "" }),
      );
      await append(`${turns.length}`, [assistantMessageData({ message: turn.text }), ...calls], of);
      const added = { turn, replies: [] };
      turns.push(added);
      return added;
    },
    async addReply(at, reply, of) {
      const { turn, replies } = turns.at(-1) ?? {};
      const use = turn?.toolUses[at];
      if (replies === undefined || use === undefined) throw new Error("The turn has no such tool use");
      await append(`${turns.length - 1}/${at}`, [resultOf(use, reply)], of);
      replies[at] = reply;
    },
  };
}

function resultOf({ id, name }: ToolUse, { isError, content }: ToolReply): EventData {
  const isWhole = content.length <= contentCharsMax;
  const resultJson = JSON.stringify(isWhole ? content : `${content.slice(0, contentCharsMax)}… [the rest is not kept]`);
  return toolResultData({ toolCallId: id, toolName: name, resultJson, ...(isError && { errorMessage: "failed" }) });
}

/** Begins with a task: a model accepts no result without its tool use. */
function latest(messages: readonly Message[]): Message[] {
  const first = Math.max(0, messages.length - messagesBackMax);
  const task = messages.findIndex((message, at) => at >= first && typeof message === "string");
  return task === -1 ? [] : messages.slice(task);
}

/** The movements by their names, in the order in which they began. */
function playedMovements(events: readonly Event[]): Map<string, PlayedMovement> {
  const found = new Map<string, PlayedMovement>();
  for (const event of events) {
    const name = event.labels[movementLabel] ?? "";
    const turns = found.get(name)?.turns ?? [];
    if (event.type === "user_message") found.set(name, { task: String(event.data["message"]), turns });
    else addEvent(turns, event);
  }
  return found;
}

function addEvent(turns: PlayedTurn[], event: Event): void {
  if (event.type === "assistant_message") {
    turns.push({ turn: { text: decodeAssistantMessageData(event).message, toolUses: [] }, replies: [] });
    return;
  }
  const last = turns.at(-1);
  if (last === undefined) return;
  const { toolUses, text } = last.turn;
  if (event.type === "tool_call") {
    const { toolCallId: id, toolName: name, payload } = decodeToolCallData(event);
    const use = { id, name, input: payload === "" ? undefined : (JSON.parse(payload) as unknown) };
    turns[turns.length - 1] = { ...last, turn: { text, toolUses: [...toolUses, use] } };
  }
  if (event.type === "tool_result") {
    const { toolCallId: id, resultJson, errorMessage } = decodeToolResultData(event);
    const content = String(JSON.parse(resultJson));
    // A model can use an id twice.
    const at = toolUses.findIndex((use, index) => use.id === id && last.replies[index] === undefined);
    if (at !== -1) last.replies[at] = { id, isError: errorMessage !== "", content };
  }
}

/** A model accepts no tool use without its result, so a turn that broke off is left out. */
function messagesOf({ task, turns }: PlayedMovement): Message[] {
  const answered = turns.filter(({ turn, replies }) => turn.toolUses.every((_use, at) => replies[at] !== undefined));
  const ofTurns = answered.map(({ turn, replies }): Message[] => {
    const found = replies.filter((reply) => reply !== undefined);
    return found.length === 0 ? [turn] : [turn, found];
  });
  return [task, ...ofTurns.flat()];
}
