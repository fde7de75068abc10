/** `closed.jsonl`: a line for each closed segment, so that a reader opens only the segments that it needs. */
import { isObject } from "../kit/check-value.ts";
import { parseJson } from "./json-text.ts";
import { closedName, linesOf, readOrEmpty, runs, wholeLines } from "./run-files.ts";
import type { Span } from "./run-head.ts";

export type ClosedSegment = { readonly segment: number } & Span;

/** By number. A segment whose line is missing or damaged is absent: a reader then opens it. */
export function readClosed(folder: string): Map<number, ClosedSegment> {
  const found = new Map<number, ClosedSegment>();
  for (const line of linesOf(readOrEmpty(`${folder}/${closedName}`))) {
    const value = line === "" ? undefined : parseJson(line);
    if (isClosedSegment(value)) found.set(value.segment, value);
  }
  return found;
}

function isClosedSegment(value: unknown): value is ClosedSegment {
  if (!isObject(value)) return false;
  const { segment, lines, bytes, firstAt, lastAt } = value;
  const counts = [segment, lines, bytes].every((each) => Number.isSafeInteger(each));
  return counts && typeof firstAt === "string" && typeof lastAt === "string";
}

export function addClosed(folder: string, segments: readonly ClosedSegment[]): void {
  const path = `${folder}/${closedName}`;
  runs.write(path, wholeLines(readOrEmpty(path)) + formatClosed(segments));
}

export function formatClosed(segments: readonly ClosedSegment[]): string {
  return segments
    .map(
      ({ segment, lines, bytes, firstAt, lastAt }) => `${JSON.stringify({ segment, lines, bytes, firstAt, lastAt })}\n`,
    )
    .join("");
}
