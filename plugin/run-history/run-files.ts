/** The files of the scope `runs`: `<agent>/<run>/` has `run.json`, `closed.jsonl`, `000001.jsonl` …, and `appends/`. */
import type { ListedFile } from "../../shared/abi.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { NoUtf8, Scope } from "../kit/capabilities.ts";
import { hasReturnsAlone, readableLines, withLineFeeds } from "../kit/file-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import { parseLines } from "./event-line.ts";
import { withoutMark } from "./json-text.ts";
import { emptySpan, joinSpans } from "./run-head.ts";
import type { Span } from "./run-head.ts";
import { runLimits } from "./run-limits.ts";

export const runs: Scope = new Scope("runs");

export const headName = "run.json";
export const closedName = "closed.jsonl";

const numbered = (number: number): string => `${String(number).padStart(6, "0")}.jsonl`;

export const segmentPath = (folder: string, number: number): string => `${folder}/${numbered(number)}`;
export const appendIdsPath = (folder: string, number: number): string => `${folder}/appends/${numbered(number)}`;

const placeForm = /^([^/]+\/[^/]+)\/(?:(run\.json|closed\.jsonl)|(appends\/)?(\d{6,})\.jsonl)$/;

/** What a file of the scope is. */
export interface RunFile {
  /** The run's folder. */
  readonly folder: string;
  readonly kind: "head" | "closed" | "segment" | "appends";
  /** Of a segment, or of a file of append ids; otherwise 0. */
  readonly number: number;
}

/** Returns `null` for a path at which this family keeps no file. */
export function runFileAt(path: string): RunFile | null {
  const [, folder, name, appends, digits] = placeForm.exec(path) ?? [];
  if (folder === undefined) return null;
  if (name !== undefined) return { folder, kind: name === headName ? "head" : "closed", number: 0 };
  const number = Number(digits);
  if (number < 1 || number > runLimits.fileNumberMax || numbered(number) !== `${digits}.jsonl`) return null;
  return { folder, kind: appends === undefined ? "segment" : "appends", number };
}

/** The files of one run's folder. */
export const filesIn = (folder: string): ListedFile[] => runs.list(`${folder}/`);

/** What is at a path, but is no text: only people put it there. */
export const unreadable: unique symbol = Symbol("unreadable");

/** A file's text, or `null` if there is no file. */
export type FileText = string | typeof unreadable | null;

/** A denial ends the call. */
export function readFile(path: string): FileText {
  try {
    return runs.read(path);
  } catch (error) {
    if (error instanceof ToolError && ["ENTRY_UNREADABLE", "STORAGE_UNSAFE"].includes(error.code)) return unreadable;
    throw error;
  }
}

/** Empty if there is no file, or no text in it. */
export const textOf = (text: FileText): string => (typeof text === "string" ? text : "");

export const readOrEmpty = (path: string): string => textOf(readFile(path));

/** A segment that has been read. */
export interface ReadSegment {
  readonly text: FileText;
  /** Also of a file that is not UTF-8 text: one byte must not take the other events with it. */
  readonly lines: readonly string[];
}

/** In place of a line that is not UTF-8 text: no event, so whoever reads it is told. */
export const noTextLine = "\ufffd";

/** Carriage returns alone end lines as well, but a segment with them is never appended to, as one that is not UTF-8 text. */
export function readSegment(path: string): ReadSegment {
  const { text, readable } = readLines(path);
  return { text: readable !== null && hasReturnsAlone(readable) ? unreadable : text, lines: linesOf(readable ?? "") };
}

/** A file's text, and what can be read of it, with `noTextLine` in place of the lines that cannot; `null` if nothing can. */
export function readLines(path: string): { readonly text: FileText; readonly readable: string | null } {
  try {
    const text = runs.read(path);
    return { text, readable: text };
  } catch (error) {
    const readable = error instanceof NoUtf8 ? error.readable : null;
    if (readable === null) return { text: readFile(path), readable };
    return { text: unreadable, readable: linesText(readableLines(linesOf(readable), noTextLine)) };
  }
}

/**
 * The segments of one run. A load reads the open one twice, to find the run's end and for its events, so the last one is
 * kept: for one call only, because a program could make several calls with one instance.
 */
export class SegmentReader {
  readonly #folder: string;
  #last: (ReadSegment & { readonly number: number }) | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(number: number): ReadSegment {
    if (this.#last?.number === number) return this.#last;
    this.#last = { number, ...readSegment(segmentPath(this.#folder, number)) };
    return this.#last;
  }
}

/** The lines of a segment. The last one counts even if its line end is missing; a byte order mark is no part of the first. */
export function linesOf(text: string): string[] {
  const lines = withLineFeeds(withoutMark(text)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export const linesText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Ends the last line, so that one that was torn off stays a line of its own when more follow. */
export const wholeLines = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** What a segment contains. Damaged lines count, but have no timestamp. What is no text has no bytes: it is read each time. */
export function spanOf({ text, lines }: ReadSegment): Span {
  const whole = { ...emptySpan, lines: lines.length, bytes: utf8Bytes(textOf(text)) };
  return parseLines(lines).reduce((span, parsed) => {
    const at = "event" in parsed ? parsed.event.timestamp : "";
    return joinSpans(span, { ...emptySpan, firstAt: at, lastAt: at });
  }, whole);
}
