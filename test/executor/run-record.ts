/**
 * An agent's run, recorded as it happens: an agent that is started again continues where it was. Each append has an id,
 * so what is recorded twice is stored once.
 */
import {
  assistantMessageData,
  newEvent,
  RunHistory,
  toolCallData,
  toolResultData,
  userMessageData,
} from "memcell/run-history";
import type { EventData, RunHistoryContext, RunHistoryRuntime } from "memcell/run-history";

import type { Message, ModelTurn, Movement, ToolReply, ToolUse } from "./messages.ts";
import { messagesOf, movementLabel, playedMovements } from "./played-movements.ts";
import type { PlayedTurn, PlayedTurns } from "./played-movements.ts";

/** How many messages of earlier movements a model gets. */
const messagesBackMax = 20;

/** A longer result is recorded in part: an event has at most 256 KiB. */
const contentCharsMax = 30_000;

export interface TimedReply {
  readonly reply: ToolReply;
  /** Of the call, in nanoseconds. */
  readonly duration: bigint;
}

export class RunRecord {
  /** This movement's turns so far, also those of an earlier attempt. */
  readonly turns: PlayedTurns;
  readonly #earlier: readonly Message[];
  readonly #runtime: RunHistoryRuntime;
  readonly #movement: Movement;

  /** Reads the run, and records the movement's task. Each context says where the recorded text comes from. */
  static async open(runtime: RunHistoryRuntime, movement: Movement, ctx: RunHistoryContext): Promise<RunRecord> {
    const { events } = await new RunHistory(runtime, ctx).load(movement.agent, movement.run);
    const played = playedMovements(events);
    const turns = played.get(movement.name)?.turns ?? [];
    const isNew = !played.delete(movement.name);
    const earlier = latest([...played.values()].flatMap(messagesOf));
    const record = new RunRecord({ runtime, movement, turns, earlier });
    if (isNew) await record.#append("task", [userMessageData({ message: movement.task })], ctx);
    return record;
  }

  private constructor(parts: {
    readonly runtime: RunHistoryRuntime;
    readonly movement: Movement;
    readonly turns: PlayedTurns;
    readonly earlier: readonly Message[];
  }) {
    this.#runtime = parts.runtime;
    this.#movement = parts.movement;
    this.turns = parts.turns;
    this.#earlier = parts.earlier;
  }

  messages(): Message[] {
    return [...this.#earlier, ...messagesOf({ task: this.#movement.task, turns: this.turns })];
  }

  /** Records a turn before its tools are called, so that a process that ends meanwhile does not ask the model again. */
  async addTurn(turn: ModelTurn, ctx: RunHistoryContext): Promise<PlayedTurn> {
    const calls = turn.toolUses.map(({ id, name, input }) =>
      toolCallData({ toolCallId: id, toolName: name, payload: JSON.stringify(input) ?? "" }),
    );
    await this.#append(`${this.turns.length}`, [assistantMessageData({ message: turn.text }), ...calls], ctx);
    const played = { turn, replies: [] };
    this.turns.push(played);
    return played;
  }

  /** Records the reply to one of the last turn's tool uses. */
  async addReply(at: number, { reply, duration }: TimedReply, ctx: RunHistoryContext): Promise<void> {
    const { turn, replies } = this.turns.at(-1) ?? {};
    const use = turn?.toolUses[at];
    if (replies === undefined || use === undefined) throw new Error("The turn has no such tool use");
    await this.#append(`${this.turns.length - 1}/${at}`, [resultOf(use, reply, duration)], ctx);
    replies[at] = reply;
  }

  async #append(step: string, data: readonly EventData[], ctx: RunHistoryContext): Promise<void> {
    const { agent, run, name } = this.#movement;
    const events = data.map((each) => newEvent(undefined, each, { [movementLabel]: name }));
    await new RunHistory(this.#runtime, ctx).append(agent, run, events, { appendId: `${name}/${step}` });
  }
}

function resultOf({ id, name }: ToolUse, { isError, content }: ToolReply, duration: bigint): EventData {
  const isWhole = content.length <= contentCharsMax;
  const resultJson = isWhole ? content : JSON.stringify(`${content.slice(0, contentCharsMax)}… [the rest is not kept]`);
  return toolResultData({
    toolCallId: id,
    toolName: name,
    resultJson,
    duration,
    ...(isError && { errorMessage: messageIn(content) }),
  });
}

function messageIn(content: string): string {
  const { message } = JSON.parse(content) as { message?: unknown };
  return typeof message === "string" && message !== "" ? message : "failed";
}

/** Begins with a task: a model accepts no result without its tool use. */
function latest(messages: readonly Message[]): Message[] {
  const first = Math.max(0, messages.length - messagesBackMax);
  const task = messages.findIndex((message, at) => at >= first && typeof message === "string");
  return task === -1 ? [] : messages.slice(task);
}
