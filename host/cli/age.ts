import { quoted } from "../../shared/text.ts";
import { UsageError } from "../config/usage-error.ts";

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts the text of an option such as `30d` to milliseconds. */
export function ageMs(flag: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new UsageError(`--${flag} is ${quoted(text)}, allowed: a number and s, m, h or d, as in 30d`);
  }
  return Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

/** An age in its largest unit, such as `3 h`. */
export function shownAge(age: number): string {
  const [unit, unitMs] = Object.entries(unitsMs).findLast(([, each]) => age >= each) ?? ["s", unitsMs.s];
  return `${Math.floor(age / unitMs)} ${unit === "m" ? "min" : unit}`;
}
