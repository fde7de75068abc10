/** Adds events to a run's open segment, and closes it when it is full. */
import type { CheckedEvent } from "./check-event.ts";
import { addClosed } from "./closed-segments.ts";
import type { ClosedSegment } from "./closed-segments.ts";
import type { Place } from "./cursor.ts";
import type { Run } from "./find-run.ts";
import { readFile, runs, segmentPath, wholeLines } from "./run-files.ts";
import { emptySpan, joinSpans } from "./run-head.ts";
import type { RunHead } from "./run-head.ts";
import { runLimits } from "./run-limits.ts";

/** The head does not know a segment that is there: another host was killed while it wrote. */
export class StaleHead extends Error {}

/**
 * Stages the segments and returns the run's new head, without its append ids. `openText`: the open segment's text.
 * Throws `StaleHead` before anything is staged.
 */
export function writeSegments({ folder, head }: Run, openText: string, events: readonly CheckedEvent[]): RunHead {
  const segments = new Segments(head, openText);
  // A reader without a lock can meet a run's first append before `run.json`: then it must see all of it or nothing.
  const isFirst = head.closedSegments === 0 && head.open.lines === 0;
  let lastAppend: Place | null = null;
  let { lastSnapshot, lastParts } = head;
  for (const event of events) {
    if (segments.isFull && !isFirst) {
      segments.close();
      if (readFile(segmentPath(folder, segments.number)) !== null) throw new StaleHead();
    }
    const place = { segment: segments.number, line: segments.open.lines };
    lastAppend ??= place;
    if (event.begins !== null) {
      const { type, partOf } = event.begins;
      const isKnown = lastParts?.partOf === partOf;
      if (type === "part") lastParts = isKnown ? lastParts : { ...place, partOf };
      // With parts of which nobody knows where they begin, an earlier snapshot stays the last one.
      else lastSnapshot = partOf === "" ? { ...place, partOf } : isKnown ? lastParts : lastSnapshot;
    }
    segments.add(event);
  }
  for (const [number, text] of segments.texts) runs.write(segmentPath(folder, number), text);
  if (segments.filled.length > 0) addClosed(folder, segments.filled);
  const { number, open, closed } = segments;
  const written = { closedSegments: number - 1, closed, open, lastAppend: lastAppend ?? head.lastAppend };
  return { ...head, ...written, lastSnapshot, lastParts };
}

class Segments {
  number: number;
  open: RunHead["open"];
  closed: RunHead["closed"];
  readonly filled: ClosedSegment[] = [];
  /** The new texts, by number. */
  readonly texts = new Map<number, string>();
  #text: string;

  constructor({ closedSegments, open, closed }: RunHead, openText: string) {
    [this.number, this.open, this.closed] = [closedSegments + 1, open, closed];
    // A line that was torn off stays a line of its own. A full segment gets no more lines.
    this.#text = this.isFull ? openText : wholeLines(openText);
    this.open = { ...open, bytes: open.bytes + this.#text.length - openText.length };
  }

  get isFull(): boolean {
    return this.open.bytes >= runLimits.segmentBytes;
  }

  close(): void {
    this.filled.push({ segment: this.number, ...this.open });
    this.closed = joinSpans(this.closed, this.open);
    [this.number, this.open, this.#text] = [this.number + 1, emptySpan, ""];
  }

  add({ line, bytes, timestamp }: CheckedEvent): void {
    this.#text += line;
    this.open = joinSpans(this.open, { lines: 1, bytes, firstAt: timestamp, lastAt: timestamp });
    this.texts.set(this.number, this.#text);
  }
}
