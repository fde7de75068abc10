import { presentValue } from "../text.ts";
import { inputError } from "./run-history-error.ts";
import { normalTimestamp, timestampAllowed } from "./timestamp.ts";

/** A timestamp in UTC as text; empty if there is none. `field`: where it is, for the error. */
export function presentTimestamp(timestamp: Date | string | null | undefined, field: string): string {
  if (timestamp === undefined || timestamp === null || timestamp === "") return "";
  const text = timestamp instanceof Date ? textOf(timestamp) : timestamp;
  const normal = typeof text === "string" ? normalTimestamp(text) : null;
  if (normal !== null) return normal;
  throw inputError("use the event", {
    field,
    value: presentValue(text),
    allowed: `a date, or ${timestampAllowed}, or nothing`,
  });
}

const textOf = (date: Date): string => (Number.isNaN(date.getTime()) ? "an invalid date" : date.toISOString());
