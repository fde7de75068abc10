/** Makes the data of events. A field that is left out has its type's empty value; a wrong one is a `RunHistoryError`. */
import { makePayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { AssistantMessageData, UserMessageData } from "./payloads/messages.ts";
import type { OpaqueData, SnapshotData } from "./payloads/opaque.ts";
import type { PlannerNoteData } from "./payloads/planner-note.ts";
import type { ThinkingData } from "./payloads/thinking.ts";
import type { ToolCallData } from "./payloads/tool-call.ts";
import type { ToolResultData } from "./payloads/tool-result.ts";

/**
 * Makes the data of a user's message.
 *
 * @example
 * console.log(userMessageData({ message: "Hello" }).eventType); // user_message
 */
export function userMessageData(value: UserMessageData): Payload<"user_message"> {
  return makePayload("user_message", value);
}

/**
 * Makes the data of an agent's answer.
 *
 * @example
 * const data = assistantMessageData({ message: "Two trains", structured: { trains: [1, 2] } });
 * console.log(JSON.stringify(data.toMap())); // {"message":"Two trains","structured":{"trains":[1,2]}}
 */
export function assistantMessageData(value: AssistantMessageData): Payload<"assistant_message"> {
  return makePayload("assistant_message", value);
}

/**
 * Makes the data of a scheduled tool call. `payload` is JSON text.
 *
 * @example
 * const call = toolCallData({ toolCallId: "call_1", toolName: "search", payload: '{"id":9007199254740993}' });
 * console.log(String(toolCallInput(call).id)); // 9007199254740993
 */
export function toolCallData(value: ToolCallData): Payload<"tool_call"> {
  return makePayload("tool_call", value);
}

/**
 * Makes the data of a tool call's end. `resultJson` and `serverData` are JSON text, `duration` is in nanoseconds.
 *
 * @example
 * const result = toolResultData({ toolCallId: "call_1", toolName: "search", duration: 2_000_000_000n });
 * console.log(result.errorMessage === "", result.bounds); // true undefined
 */
export function toolResultData(value: ToolResultData): Payload<"tool_result"> {
  return makePayload("tool_result", value);
}

/**
 * Makes the data of a planner's note.
 *
 * @example
 * console.log(plannerNoteData({ note: "Look at the map" }).note); // Look at the map
 */
export function plannerNoteData(value: PlannerNoteData): Payload<"planner_note"> {
  return makePayload("planner_note", value);
}

/**
 * Makes the data of a block of reasoning.
 *
 * @example
 * const thought = thinkingData({ redacted: new Uint8Array([1, 2, 3]), contentIndex: 0, final: true });
 * console.log(thought.toMap().redacted); // AQID
 */
export function thinkingData(value: ThinkingData): Payload<"thinking"> {
  return makePayload("thinking", value);
}

/**
 * Makes the data of an event in a form of the program's own. `json` is JSON text and comes back byte for byte, so that
 * `JSON.parse` returns what `JSON.stringify` was given. It has at most 8 Mi characters.
 *
 * @example
 * const data = opaqueData({ format: "chess", json: JSON.stringify({ move: "e4" }) });
 * console.log(data.json); // {"move":"e4"}
 */
export function opaqueData(value: OpaqueData): Payload<"opaque"> {
  return makePayload("opaque", value);
}

/**
 * Makes the data of a snapshot: what all earlier events of the run amount to. A load `from: "snapshot"` begins with the
 * last one.
 *
 * @example
 * const data = snapshotData({ format: "chess", json: JSON.stringify({ moves: ["e4", "e5"] }) });
 * console.log(data.eventType); // snapshot
 */
export function snapshotData(value: SnapshotData): Payload<"snapshot"> {
  return makePayload("snapshot", value);
}
