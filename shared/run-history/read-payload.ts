/** Reads an event's data as its type has it. Throws an `EventFault` with goa-ai's words. */
import type { Forms } from "./data-map.ts";
import type { StoredType } from "./event-types.ts";
import { readMessage } from "./payloads/messages.ts";
import { readOpaque, readPart } from "./payloads/opaque.ts";
import { readPlannerNote } from "./payloads/planner-note.ts";
import { readThinking } from "./payloads/thinking.ts";
import { readToolCall } from "./payloads/tool-call.ts";
import { readToolResult } from "./payloads/tool-result.ts";

const readers = {
  user_message: (data: unknown, forms: Forms) => readMessage("user_message", data, forms),
  assistant_message: (data: unknown, forms: Forms) => readMessage("assistant_message", data, forms),
  tool_call: readToolCall,
  tool_result: readToolResult,
  planner_note: readPlannerNote,
  thinking: readThinking,
  opaque: (data: unknown, forms: Forms) => readOpaque("opaque", data, forms),
  snapshot: (data: unknown, forms: Forms) => readOpaque("snapshot", data, forms),
  part: readPart,
} as const satisfies Record<StoredType, (data: unknown, forms: Forms) => unknown>;

export type PayloadOf<Type extends StoredType> = ReturnType<(typeof readers)[Type]>;

export function readPayload<Type extends StoredType>(type: Type, data: unknown, forms: Forms): PayloadOf<Type> {
  return readers[type](data, forms) as PayloadOf<Type>;
}
