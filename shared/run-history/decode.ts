/** Reads the data of events, with goa-ai's rules and words. Each decoder throws a `RunHistoryError`. */
import { presentValue } from "../text.ts";
import type { EventType } from "./event-types.ts";
import { isPayload, readData } from "./payload.ts";
import type { Payload } from "./payload.ts";
import { RunHistoryError } from "./run-history-error.ts";

/** An event, as far as decoders read it. Its data can be a map under goa-ai's keys, or what a constructor returned. */
export interface DecodableEvent {
  readonly type: EventType;
  readonly data: unknown;
}

/**
 * Reads a user's message.
 *
 * @example
 * const event = newEvent(undefined, userMessageData({ message: "Hello" }));
 * console.log(decodeUserMessageData(event).message); // Hello
 */
export function decodeUserMessageData(event: DecodableEvent): Payload<"user_message"> {
  return decode(event, "user_message");
}

/**
 * Reads an agent's answer.
 *
 * @example
 * const event = newEvent(undefined, assistantMessageData({ message: "Hello" }));
 * console.log(decodeAssistantMessageData(event).message); // Hello
 */
export function decodeAssistantMessageData(event: DecodableEvent): Payload<"assistant_message"> {
  return decode(event, "assistant_message");
}

/**
 * Reads a tool call.
 *
 * @example
 * const event = newEvent(undefined, toolCallData({ toolCallId: "call_1", toolName: "search" }));
 * console.log(decodeToolCallData(event).toolName); // search
 */
export function decodeToolCallData(event: DecodableEvent): Payload<"tool_call"> {
  return decode(event, "tool_call");
}

/**
 * Reads the end of a tool call.
 *
 * @example
 * const event = newEvent(undefined, toolResultData({ toolCallId: "call_1", toolName: "search", resultJson: "[]" }));
 * console.log(decodeToolResultData(event).resultJson); // []
 */
export function decodeToolResultData(event: DecodableEvent): Payload<"tool_result"> {
  return decode(event, "tool_result");
}

/**
 * Reads a planner's note.
 *
 * @example
 * const event = newEvent(undefined, plannerNoteData({ note: "Look at the map" }));
 * console.log(decodePlannerNoteData(event).note); // Look at the map
 */
export function decodePlannerNoteData(event: DecodableEvent): Payload<"planner_note"> {
  return decode(event, "planner_note");
}

/**
 * Reads a block of reasoning.
 *
 * @example
 * const event = newEvent(undefined, thinkingData({ text: "Hm", contentIndex: 0, final: true }));
 * console.log(decodeThinkingData(event).text); // Hm
 */
export function decodeThinkingData(event: DecodableEvent): Payload<"thinking"> {
  return decode(event, "thinking");
}

/**
 * Reads what a program keeps in a form of its own.
 *
 * @example
 * const event = newEvent(undefined, opaqueData({ format: "chess", json: '{"move":"e4"}' }));
 * console.log(JSON.parse(decodeOpaqueData(event).json).move); // e4
 */
export function decodeOpaqueData(event: DecodableEvent): Payload<"opaque"> {
  return decode(event, "opaque");
}

/**
 * Reads a snapshot.
 *
 * @example
 * const event = newEvent(undefined, snapshotData({ format: "chess", json: '{"moves":["e4"]}' }));
 * console.log(decodeSnapshotData(event).format); // chess
 */
export function decodeSnapshotData(event: DecodableEvent): Payload<"snapshot"> {
  return decode(event, "snapshot");
}

function decode<Type extends EventType>({ type, data }: DecodableEvent, want: Type): Payload<Type> {
  if (type !== want) {
    const issues = [{ field: "type", value: presentValue(type), allowed: presentValue(want) }];
    const message = `memory: decode ${type} as ${want}`;
    throw new RunHistoryError({ code: "EVENT_TYPE_MISMATCH", of: "INPUT_INVALID", message, issues });
  }
  return readData(want, isPayload(data) && data.eventType === want ? data.toMap() : data);
}
