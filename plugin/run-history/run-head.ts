/**
 * `run.json`: what a call must know of a run without reading all of it. Everything in it but the ids and the time of
 * creation can be found again in the run's other files.
 */
import { sortKeyOf } from "../../shared/run-history/timestamp.ts";
import * as z from "../../shared/zod.ts";
import { wholeNumber } from "../whole-number.ts";
import { parseJson } from "./json-text.ts";

const count = wholeNumber("a whole number", 0);
/** A time as `normalTimestamp` returns it, or empty if there is none. */
const time = z.string().check(z.regex(/^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)?$/));
/** An answer cannot have a text with a lone surrogate. */
const id = z.string().check(z.refine((text) => text.isWellFormed()));

/** Lines of one or several segments. `firstAt` and `lastAt` are the earliest and the latest timestamp. */
const span = z.strictObject({ lines: count, bytes: count, firstAt: time, lastAt: time });

export const headForm = z.strictObject({
  agentId: id,
  runId: id,
  /** When the run was begun, by the clock of its first append. A run that is begun anew has another time. */
  createdAt: time,
  closedSegments: count,
  /** All closed segments together. */
  closed: span,
  /** The segment after them, to which the next append adds. */
  open: span,
  /** Where the last append began: a reader without a lock can meet it half done. */
  lastAppend: z.strictObject({ segment: count, line: count }),
  appendIds: count,
  appendIdFiles: count,
});

export type Span = z.infer<typeof span>;
export type RunHead = z.infer<typeof headForm>;

export const emptySpan: Span = { lines: 0, bytes: 0, firstAt: "", lastAt: "" };

/** A head with every field, for `rehearseInput`. */
export const sampleHead: RunHead = {
  agentId: "a",
  runId: "a",
  createdAt: "",
  closedSegments: 0,
  closed: emptySpan,
  open: emptySpan,
  lastAppend: { segment: 1, line: 0 },
  appendIds: 0,
  appendIdFiles: 0,
};

/** Always in the same order of keys, so that equal heads are equal texts. */
export function formatHead(head: RunHead): string {
  const { agentId, runId, createdAt, closedSegments, closed, open, lastAppend, appendIds, appendIdFiles } = head;
  const ordered = { agentId, runId, createdAt, closedSegments, closed, open, lastAppend, appendIds, appendIdFiles };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** Returns `null` for a text that is not a head. */
export function parseHead(text: string): RunHead | null {
  const parsed = z.safeParse(headForm, parseJson(text));
  return parsed.success ? parsed.data : null;
}

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
