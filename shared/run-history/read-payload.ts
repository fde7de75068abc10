/** Reads an event's data as its type has it. Throws an `EventFault` with goa-ai's words. */
import type { Forms } from "./data-map.ts";
import type { EventType } from "./event-types.ts";
import { readMessage } from "./payloads/messages.ts";
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
} as const satisfies Record<EventType, (data: unknown, forms: Forms) => unknown>;

export type PayloadOf<Type extends EventType> = ReturnType<(typeof readers)[Type]>;

export function readPayload<Type extends EventType>(type: Type, data: unknown, forms: Forms): PayloadOf<Type> {
  return readers[type](data, forms) as PayloadOf<Type>;
}
