/** The events of a run as the movements that were played, and these as messages for a model. */
import { decodeAssistantMessageData, decodeToolCallData, decodeToolResultData } from "memcell/run-history";
import type { Event } from "memcell/run-history";

import type { Message, ModelTurn, ToolReply, ToolUse } from "./messages.ts";

/** A turn with the replies so far, at the places of their tool uses. */
export interface PlayedTurn {
  readonly turn: ModelTurn;
  readonly replies: (ToolReply | undefined)[];
}

export type PlayedTurns = PlayedTurn[];

/** The label of a movement's events. */
export const movementLabel = "movement";

/** The turns of each movement by its name, and the tasks. In the order in which they began. */
export interface PlayedMovement {
  readonly task: string;
  readonly turns: PlayedTurns;
}

export function playedMovements(events: readonly Event[]): Map<string, PlayedMovement> {
  const found = new Map<string, PlayedMovement>();
  for (const event of events) {
    const name = event.labels[movementLabel] ?? "";
    const turns = found.get(name)?.turns ?? [];
    if (event.type === "user_message") found.set(name, { task: String(event.data["message"]), turns });
    else addEvent(turns, event);
  }
  return found;
}

function addEvent(turns: PlayedTurns, event: Event): void {
  if (event.type === "assistant_message") {
    turns.push({ turn: { text: decodeAssistantMessageData(event).message, toolUses: [] }, replies: [] });
    return;
  }
  const last = turns.pop();
  if (last === undefined) return;
  const { toolUses, text } = last.turn;
  if (event.type === "tool_call") turns.push({ ...last, turn: { text, toolUses: [...toolUses, toolUseOf(event)] } });
  else turns.push(last);
  if (event.type === "tool_result") addReply(last, replyOf(event));
}

/** A model can use an id twice. */
function addReply({ turn, replies }: PlayedTurn, reply: ToolReply): void {
  const at = turn.toolUses.findIndex(({ id }, index) => id === reply.id && replies[index] === undefined);
  if (at !== -1) replies[at] = reply;
}

function toolUseOf(event: Event): ToolUse {
  const { toolCallId: id, toolName: name, payload } = decodeToolCallData(event);
  return { id, name, input: payload === "" ? undefined : JSON.parse(payload) };
}

function replyOf(event: Event): ToolReply {
  const { toolCallId: id, resultJson, errorMessage } = decodeToolResultData(event);
  return { id, isError: errorMessage !== "", content: resultJson };
}

export const isAnswered = ({ turn, replies }: PlayedTurn): boolean =>
  turn.toolUses.every((_use, at) => replies[at] !== undefined);

/** A model accepts no tool use without its result, so a turn that broke off is left out. */
export function messagesOf({ task, turns }: PlayedMovement): Message[] {
  const answered = turns.filter(isAnswered).map(({ turn, replies }): Message[] => {
    const found = replies.filter((reply) => reply !== undefined);
    return found.length === 0 ? [turn] : [turn, found];
  });
  return [task, ...answered.flat()];
}
