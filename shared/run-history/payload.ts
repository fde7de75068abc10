/** The data of an event as a value of its type. */
import { base64Of, bytesOf } from "./base64-bytes.ts";
import { copyJson } from "./copy-json.ts";
import type { DataMap, Forms } from "./data-map.ts";
import type { EventType } from "./event-types.ts";
import type { EventData } from "./event.ts";
import { jsonOf } from "./json-of.ts";
import { writeMessage } from "./payloads/messages.ts";
import { writeOpaque } from "./payloads/opaque.ts";
import { writePlannerNote } from "./payloads/planner-note.ts";
import { writeThinking } from "./payloads/thinking.ts";
import type { ThinkingData } from "./payloads/thinking.ts";
import { writeToolCall } from "./payloads/tool-call.ts";
import { writeToolResult } from "./payloads/tool-result.ts";
import { readPayload } from "./read-payload.ts";
import type { PayloadOf } from "./read-payload.ts";
import { withoutFaults } from "./run-history-error.ts";

/** The data of an event of one type, every field with a value, as a constructor or a decoder returns it. */
export type Payload<Type extends EventType> = PayloadOf<Type> & EventData & { readonly eventType: Type };

const forms: Forms = {
  writeJson: (value) => {
    const text = jsonOf(value, "data");
    return text === "null" ? "" : text;
  },
  readBase64: bytesOf,
  readBytes: (bytes) => bytes,
};

type Write = (value: never) => DataMap;

const writers = {
  user_message: writeMessage,
  assistant_message: writeMessage,
  tool_call: writeToolCall,
  tool_result: writeToolResult,
  planner_note: writePlannerNote,
  thinking: (value: ThinkingData) => writeThinking(value, base64Of),
  opaque: writeOpaque,
  snapshot: writeOpaque,
} as const satisfies Record<EventType, Write>;

class TypedData<Type extends EventType> implements EventData {
  readonly eventType: Type;

  constructor(eventType: Type, value: PayloadOf<Type>) {
    this.eventType = eventType;
    Object.assign(this, copyJson(value, "data"));
  }

  toMap(): DataMap {
    return copyJson((writers[this.eventType] as Write)(this as never), "data");
  }
}

/** Reads data under goa-ai's keys. */
export function readData<Type extends EventType>(type: Type, data: unknown): Payload<Type> {
  const value = withoutFaults(() => readPayload(type, data, forms));
  return new TypedData(type, value) as unknown as Payload<Type>;
}

/** Checks the fields of a value that a program gives, and adds those that are missing. */
export function makePayload<Type extends EventType>(
  type: Type,
  value: Parameters<(typeof writers)[Type]>[0],
): Payload<Type> {
  return readData(type, (writers[type] as Write)(value as never));
}

/** Whether a value is data of an event, rather than a map under goa-ai's keys. */
export const isPayload = (value: unknown): value is EventData => value instanceof TypedData;
