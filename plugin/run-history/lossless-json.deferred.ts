/** The slow way of reading JSON, which keeps the digits of every number. Loaded only for what tools do not write. */
import { dataDepthMax } from "../../shared/data-depth.ts";
import { EventFault } from "../../shared/run-history/event-fault.ts";
import { isStoredType } from "../../shared/run-history/event-types.ts";
import type { StoredType } from "../../shared/run-history/event-types.ts";
import { parseLossless, readLossless, stringifyLossless } from "../../shared/run-history/lossless.ts";
import { normalTimestamp } from "../../shared/run-history/timestamp.ts";
import type { WireEvent } from "../../shared/run-history/wire-event.ts";
import { jsonDepth } from "../../shared/text.ts";
import { isObject } from "../kit/check-value.ts";
import { isLabels, jsonFields } from "./run-event.ts";
import { runLimits } from "./run-limits.ts";

/** A line that a person or another program wrote: any order of keys, any white space, no labels, any time zone. */
export function parseForeignLine(line: string): { readonly event: WireEvent } | { readonly damage: string } {
  // The data is one level below the line.
  if (jsonDepth(line) > dataDepthMax + 1) return { damage: `its data has more than ${dataDepthMax} nested levels` };
  const value = readLossless(line);
  if (value === undefined) return { damage: "it is not JSON" };
  if (!isObject(value)) return { damage: "it is not a JSON object" };
  const { type, timestamp, data, labels } = value;
  if (!isStoredType(type)) return { damage: "its type is not one of an event" };
  const time = typeof timestamp === "string" ? normalTimestamp(timestamp) : null;
  if (time === null) return { damage: "its timestamp is not RFC 3339" };
  if (!isObject(data)) return { damage: "its data is not a JSON object" };
  if (labels !== undefined && labels !== null && !isLabels(labels)) return { damage: "its labels are not texts" };
  return { event: { type, timestamp: time, data: stringifyLossless(data), labels: labels ?? {} } };
}

/** Why a text is not one JSON value: goa-ai has words of its own for a second value after the first. */
export function isFollowed(text: string): boolean {
  if (jsonDepth(text) > runLimits.exactDepthMax) return false;
  try {
    parseLossless(text);
    return false;
  } catch (error) {
    return error instanceof EventFault && error.code === "JSON_TRAILING_DATA";
  }
}

/** The value of a text that is JSON, with numbers that keep their digits. */
export const numbersKept = (text: string): unknown => parseLossless(text);

/**
 * Turns the older forms of fields into the present ones: JSON values into JSON texts, lists of bytes into base64. Keeps
 * all other fields as they are.
 */
export function asPresentData(type: StoredType, text: string): string {
  const data = parseLossless(text) as Record<string, unknown>;
  for (const key of jsonFields[type] ?? []) {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (value !== undefined && value !== null && typeof value !== "string") data[key] = stringifyLossless(value);
  }
  const redacted = type === "thinking" && Object.hasOwn(data, "redacted") ? data["redacted"] : undefined;
  if (Array.isArray(redacted)) data["redacted"] = base64Of(redacted.map(Number));
  return stringifyLossless(data);
}

/** A field of some data as JSON text with all its digits, or `null` if there is none. */
export function fieldText(text: string, key: string): string | null {
  const data = readLossless(text);
  const value = isObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return value === undefined || value === null ? null : stringifyLossless(value);
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64Of(bytes: readonly number[]): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += 3) {
    const [a = 0, b, c] = bytes.slice(start, start + 3);
    const group = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    const digits = [18, 12, 6, 0].map((shift) => alphabet[(group >> shift) & 63]).join("");
    text += b === undefined ? `${digits.slice(0, 2)}==` : c === undefined ? `${digits.slice(0, 3)}=` : digits;
  }
  return text;
}
