/**
 * `run.json`: what a call must know of a run without reading all of it. Everything in it but the ids and the time of
 * creation can be found again in the run's other files.
 */
import { sortKeyOf } from "../../shared/run-history/timestamp.ts";
import { isObject } from "../kit/check-value.ts";
import { parseJson, withoutMark } from "./json-text.ts";

/** Lines of one or several segments. */
export interface Span {
  readonly lines: number;
  readonly bytes: number;
  /** The earliest timestamp; empty, like `lastAt`, if no line is an event. */
  readonly firstAt: string;
  /** The latest timestamp. */
  readonly lastAt: string;
}

export interface RunHead {
  readonly agentId: string;
  readonly runId: string;
  /** When the run was begun, by the clock of its first append. A run that is begun again has another time. */
  readonly createdAt: string;
  readonly closedSegments: number;
  /** All closed segments together. */
  readonly closed: Span;
  /** The segment after them, to which the next append adds. */
  readonly open: Span;
  /** Where the last append began: a reader without a lock can meet it half done. */
  readonly lastAppend: { readonly segment: number; readonly line: number };
  readonly appendIds: number;
  readonly appendIdFiles: number;
  /** Where a load from the last snapshot begins. Absent if nobody knows: then it begins at the run's start. */
  readonly lastSnapshot?: SnapshotPlace | undefined;
  /** Where the parts begin that were begun last. Their snapshot is a later one, perhaps of a later append. */
  readonly lastParts?: SnapshotPlace | undefined;
}

/** Where a snapshot is, or the first of its parts. */
export interface SnapshotPlace {
  readonly segment: number;
  readonly line: number;
  /** Names the parts; empty if the snapshot has none. */
  readonly partOf: string;
}

export const emptySpan: Span = { lines: 0, bytes: 0, firstAt: "", lastAt: "" };

/** Always in the same order of keys, so that equal heads are equal texts. */
export function formatHead(head: RunHead): string {
  const { agentId, runId, createdAt, closedSegments, closed, open, lastAppend, appendIds, appendIdFiles } = head;
  const counts = { closedSegments, closed, open, lastAppend, appendIds, appendIdFiles };
  const { lastSnapshot, lastParts } = head;
  const ordered = { agentId, runId, createdAt, ...counts, lastSnapshot, lastParts };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** Returns `null` for a text that is not a head. Each call parses one, so no schema does: it takes ten times as long. */
export function parseHead(text: string): RunHead | null {
  const value = parseJson(withoutMark(text));
  return isHead(value) ? value : null;
}

function isHead(value: unknown): value is RunHead {
  if (!isObject(value) || !isObject(value["lastAppend"])) return false;
  const { agentId, runId, createdAt, closedSegments, closed, open, lastAppend, appendIds, appendIdFiles } = value;
  const counts = [closedSegments, lastAppend["segment"], lastAppend["line"], appendIds, appendIdFiles];
  return (
    isId(agentId) &&
    isId(runId) &&
    isTime(createdAt) &&
    counts.every(isCount) &&
    isSpan(closed) &&
    isSpan(open) &&
    isPlaced(value)
  );
}

function isPlaced({ lastSnapshot, lastParts }: Record<string, unknown>): boolean {
  return [lastSnapshot, lastParts].every(
    (each) =>
      each === undefined ||
      (isObject(each) && isCount(each["segment"]) && isCount(each["line"]) && typeof each["partOf"] === "string"),
  );
}

function isSpan(value: unknown): value is Span {
  if (!isObject(value)) return false;
  const { lines, bytes, firstAt, lastAt } = value;
  return isCount(lines) && isCount(bytes) && isTime(firstAt) && isTime(lastAt);
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** An answer cannot have a text with a lone surrogate. */
const isId = (value: unknown): boolean => typeof value === "string" && value.isWellFormed();

/** A time as `normalTimestamp` returns it, or empty if there is none. */
const isTime = (value: unknown): boolean =>
  typeof value === "string" && /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)?$/.test(value);

/** Adds lines to a span. A span without events has no timestamps. */
export function joinSpans(a: Span, b: Span): Span {
  return {
    lines: a.lines + b.lines,
    bytes: a.bytes + b.bytes,
    firstAt: pick(a.firstAt, b.firstAt, (first, second) => first <= second),
    lastAt: pick(a.lastAt, b.lastAt, (first, second) => first >= second),
  };
}

function pick(a: string, b: string, isFirst: (a: string, b: string) => boolean): string {
  if (a === "" || b === "") return a || b;
  return isFirst(sortKeyOf(a), sortKeyOf(b)) ? a : b;
}
