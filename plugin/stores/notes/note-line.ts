/** The changes that the machines of an agent exchange. */
import { isNoteKey } from "./note-place.ts";
import type { NotePlace } from "./note-place.ts";

/** Where a change is that others can get: a note, or the mark of a forgotten one. */
export interface NoteChange {
  readonly path: string;
  /** When its file was last changed, in microseconds. */
  readonly changedUs: number;
}

/** One change as it is sent. */
export interface NoteLine extends NotePlace {
  readonly op: "put" | "delete";
  /** UTC, ISO 8601. */
  readonly at: string;
  readonly content: string;
  readonly description: string;
  readonly source: string;
}

/** Reads a line that was sent for a namespace, or says what is wrong with it. */
export function lineIn(given: unknown, namespace: string): NoteLine | string {
  const { op, key, at, content, description, source, ...others } = Object(given) as Readonly<Record<string, unknown>>;
  if (op !== "put" && op !== "delete") return 'op is neither "put" nor "delete"';
  if (typeof key !== "string" || !isNoteKey(key)) return "its key is no key of a note";
  if (textOf(others["namespace"]).normalize("NFC") !== namespace) return "its namespace is another";
  if (typeof at !== "string" || !isTime(at)) return "its time is none such as 2026-01-31T00:00:00.000Z";
  if (op === "put" && typeof content !== "string") return "its content is no text";
  return { op, key, namespace, at, content: textOf(content), description: textOf(description), source: textOf(source) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** In the one form in which times can be compared as texts. */
export const isTime = (text: string): boolean => {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
};
