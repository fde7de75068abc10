import { dataDepthMax, isTooDeep } from "../../shared/data-depth.ts";
import { isNumeric } from "../../shared/numeric.ts";
/** Checks the events of an append. A fault names the event, the field, its value and what is allowed. */
import { isBase64 } from "../../shared/run-history/base64.ts";
import type { Forms } from "../../shared/run-history/data-map.ts";
import { EventFault } from "../../shared/run-history/event-fault.ts";
import { isStoredType, storedTypes } from "../../shared/run-history/event-types.ts";
import type { StoredType } from "../../shared/run-history/event-types.ts";
import { readPayload } from "../../shared/run-history/read-payload.ts";
import { normalTimestamp, timestampAllowed, zeroTimestamp } from "../../shared/run-history/timestamp.ts";
import type { Labels, WireEvent } from "../../shared/run-history/wire-event.ts";
import { presentValue, utf8Bytes } from "../../shared/text.ts";
import { fieldName, isObject } from "../kit/check-value.ts";
import { inputError, ToolError } from "../kit/tool-error.ts";
import { bytesInAnswer, lineOf } from "./event-line.ts";
import { inOneLine, parseJson } from "./json-text.ts";
import { asPresentData, isFollowed, numbersKept } from "./lossless-json.deferred.ts";
import { isLabels, jsonFields } from "./run-event.ts";
import { runLimits } from "./run-limits.ts";

const { eventBytesMax, pageBytesMax } = runLimits;

/** An event that can be stored. */
export interface CheckedEvent {
  readonly timestamp: string;
  /** With its line end. */
  readonly line: string;
  /** Of the line, in UTF-8. */
  readonly bytes: number;
  /** Of a snapshot: the name of its parts, empty without any. Of the first part of a text: its name. */
  readonly begins: { readonly type: "snapshot" | "part"; readonly partOf: string } | null;
}

/** An event of the input; any value is possible. `now`: the call's time. */
export function checkEvent(given: unknown, place: string, now: string): CheckedEvent {
  if (!isObject(given)) throw wrong(place, given, "an object with type, timestamp, data and labels");
  const { type, timestamp, data, labels, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw wrong(
      `${place}.${fieldName(unknown)}`,
      others[unknown],
      "no other fields than type, timestamp, data and labels",
    );
  }
  if (!isStoredType(type)) throw wrong(`${place}.type`, type, storedTypes.map((each) => `"${each}"`).join(", "));
  const event: WireEvent = {
    type,
    timestamp: checkTimestamp(timestamp, place, now),
    data: checkData(type, data, `${place}.data`),
    labels: checkLabels(labels, place),
  };
  return { ...checkSize(event, place), begins: beginsAt(event) };
}

function beginsAt({ type, data }: WireEvent): CheckedEvent["begins"] {
  if (type !== "snapshot" && type !== "part") return null;
  const { part_of: partOf, index } = parseJson(data) as Record<string, unknown>;
  if (type === "part") return index === 0 ? { type, partOf: String(partOf) } : null;
  return { type, partOf: typeof partOf === "string" ? partOf : "" };
}

function checkTimestamp(timestamp: unknown, place: string, now: string): string {
  if (timestamp === undefined || timestamp === null || timestamp === "") return now;
  const normal = typeof timestamp === "string" ? normalTimestamp(timestamp) : null;
  if (normal === null) throw wrong(`${place}.timestamp`, timestamp, `${timestampAllowed}, or nothing`);
  return normal === zeroTimestamp ? now : normal;
}

function checkLabels(labels: unknown, place: string): Labels {
  if (labels === undefined || labels === null) return {};
  if (isLabels(labels)) return labels;
  throw wrong(`${place}.labels`, labels, "an object whose values are strings");
}

function checkData(type: StoredType, data: unknown, place: string): string {
  if (data !== undefined && data !== null && typeof data !== "string") {
    throw wrong(place, data, "JSON text of an object");
  }
  const value = typeof data === "string" ? checkJson(data, place) : null;
  if (isTooDeep(value, dataDepthMax)) {
    throw inputFault(place, "nested deeper", `at most ${dataDepthMax} nested levels`);
  }
  let isOld = false;
  const forms: Forms = {
    writeJson: () => {
      isOld = true;
      return "{}";
    },
    readBase64: (text) => (isBase64(text) ? new Uint8Array() : null),
    readBytes: (bytes) => {
      isOld = true;
      return bytes;
    },
  };
  try {
    readExactly(type, data, value, forms);
  } catch (fault) {
    throw fault instanceof EventFault ? ofEvent(fault, place) : fault;
  }
  checkJsonFields(type, value as Record<string, unknown>, place);
  return isOld ? asPresentData(type, data as string) : inOneLine(data as string);
}

/** A number can be refused only because JavaScript has rounded it. Then its digits decide. */
function readExactly(type: StoredType, data: unknown, value: unknown, forms: Forms): void {
  try {
    readPayload(type, value, forms);
  } catch (fault) {
    if (!(fault instanceof EventFault) || typeof fault.details.value !== "number") throw fault;
    readPayload(type, numbersKept(data as string), forms);
  }
}

/** Texts that must be JSON themselves. A blank one counts as none. */
function checkJsonFields(type: StoredType, data: Record<string, unknown>, place: string): void {
  for (const key of jsonFields[type] ?? []) {
    const text = Object.hasOwn(data, key) ? data[key] : undefined;
    if (typeof text === "string" && text.trim() !== "") checkJson(text, `${place}.${key}`);
  }
}

function checkJson(text: string, place: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  const [code, message] = isFollowed(text)
    ? (["JSON_TRAILING_DATA", "rawjson: trailing data"] as const)
    : (["JSON_INVALID", "rawjson: invalid JSON"] as const);
  throw ofEvent(new EventFault(code, message, { value: text, allowed: "one JSON value" }), place);
}

function checkSize(event: WireEvent, place: string): Omit<CheckedEvent, "begins"> {
  const line = lineOf(event);
  const bytes = utf8Bytes(line);
  if (bytes > eventBytesMax) throw inputFault(place, `${bytes} bytes`, `at most ${eventBytesMax} bytes`);
  // As JSON in an answer, a line takes twice its bytes at most.
  const answerBytes = bytes * 2 + 100 < pageBytesMax ? 0 : bytesInAnswer(line, false);
  if (answerBytes <= pageBytesMax) return { timestamp: event.timestamp, line: `${line}\n`, bytes: bytes + 1 };
  throw inputFault(place, `${answerBytes} bytes as JSON in an answer`, `at most ${pageBytesMax} bytes`);
}

function ofEvent({ code, message, details }: EventFault, place: string): ToolError {
  const field = details.field === undefined ? place : `${place}.${details.field}`;
  return new ToolError(code, message, [
    { field, value: present(details.value), allowed: details.allowed ?? "a JSON object" },
  ]);
}

const present = (value: unknown): string => (isNumeric(value) ? String(value).slice(0, 60) : presentValue(value));

const wrong = (field: string, value: unknown, allowed: string): ToolError =>
  inputFault(field, presentValue(value), allowed);

const inputFault = (field: string, value: string, allowed: string): ToolError =>
  inputError("AppendRunEvents", [{ field, value, allowed }]);
