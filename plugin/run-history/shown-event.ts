/** What a model sees of an event: only the fields named here, so nothing that is for servers or providers alone. */
import { dataDepthMax, isTooDeep } from "../../shared/data-depth.ts";
import type { EventType } from "../../shared/run-history/event-types.ts";
import type { WireEvent } from "../../shared/run-history/wire-event.ts";
import { isObject } from "../kit/check-value.ts";
import { shownBody as seen } from "../kit/hidden-text.ts";
import { parseJson } from "./json-text.ts";
import { fieldText } from "./lossless-json.deferred.ts";

const shownFields = {
  user_message: ["message", "structured"],
  assistant_message: ["message", "structured"],
  tool_call: ["tool_call_id", "tool_name", "payload"],
  tool_result: ["tool_call_id", "tool_name", "error_message", "preview", "result_json", "bounds", "duration"],
  planner_note: ["note"],
  thinking: ["text"],
  opaque: ["format", "json", "preview"],
  snapshot: ["format", "json", "preview"],
} as const satisfies Record<EventType, readonly string[]>;

export type ShownField = (typeof shownFields)[EventType][number];

export type ShownEvent = { readonly type: EventType; readonly timestamp: string } & Readonly<
  Partial<Record<ShownField, string>>
>;

export interface CutEvent {
  readonly shown: ShownEvent;
  readonly chars: number;
  readonly charsCut: number;
}

/** Of a program's JSON text, so much is read. */
const charsRead = 65_536;

/** Images, signatures and the like say nothing to a model. */
const countedBase64 = (text: string): string =>
  text.replaceAll(/[\w+/=-]+/g, (run) => (run.length < 256 ? run : `[${run.length} characters]`));

/** Each field as text of at most `fieldCharsMax` characters. A longer one says how much is missing. */
export function showEvent(
  { type, timestamp, data }: WireEvent & { readonly type: EventType },
  fieldCharsMax: number,
): CutEvent {
  const value = parseJson(data);
  const fields = isObject(value) ? value : {};
  // A person can have nested data too deep for the library that keeps digits.
  const isDeep = isTooDeep(value, dataDepthMax);
  const shown: Partial<Record<ShownField, string>> = {};
  const isOwnForm = type === "opaque" || type === "snapshot";
  let [chars, charsCut] = [0, 0];
  for (const field of shownFields[type]) {
    const present = Object.hasOwn(fields, field) ? (fields[field] ?? null) : null;
    const isAbsent = present === null || isDeep;
    const text = typeof present === "string" ? present : isAbsent ? "" : (fieldText(data, field) ?? "");
    if (text === "") continue;
    const told = isOwnForm ? countedBase64(text.slice(0, charsRead)) : text;
    // An answer cannot have a lone surrogate, but a stored text can. The escapes of hidden characters take room.
    const whole = seen(told.slice(0, fieldCharsMax).toWellFormed());
    const beginning = whole.slice(0, fieldCharsMax);
    const unread = isOwnForm ? Math.max(text.length - charsRead, 0) : 0;
    const cut = unread + Math.max(told.length, whole.length) - beginning.length;
    const kept = cut === 0 ? beginning : `${beginning}… [${cut} characters cut]`;
    shown[field] = kept;
    chars += kept.length;
    charsCut += cut;
  }
  return { shown: { type, timestamp, ...shown }, chars, charsCut };
}
