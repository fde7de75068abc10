/** The segments of a part of a run, each with the times between which its events are. */
import type { ListedFile } from "../../shared/abi.ts";
import { sortKeyOf } from "../../shared/run-history/timestamp.ts";
import type { WireEvent } from "../../shared/run-history/wire-event.ts";
import { readClosed } from "./closed-segments.ts";
import type { Place, TimePlace } from "./cursor.ts";
import { bytesInAnswer, parseLines } from "./event-line.ts";
import type { Run } from "./find-run.ts";
import { filesIn, runFileAt, textOf } from "./run-files.ts";
import type { SegmentReader } from "./run-files.ts";
import type { Span } from "./run-head.ts";
import { runLimits } from "./run-limits.ts";

export interface Segment {
  readonly number: number;
  /** In UTF-8; `null` if that is not known. */
  readonly bytes: number | null;
  /** No event of the segment is before `firstKey` or after `lastKey`. */
  readonly firstKey: string;
  readonly lastKey: string;
}

const unknownTimes = { firstKey: "", lastKey: "~" } as const;
const unknown = { bytes: null, ...unknownTimes } as const;

/** The segments from a place to the run's end. Reads one file of facts about them, unless only the open one is left. */
export function segmentsFrom({ folder, head }: Run, since: Place): Segment[] {
  const open = head.closedSegments + 1;
  if (since.segment >= open) return [{ number: open, ...unknown }];
  const known = new Map<number, Span>([...readClosed(folder), [open, head.open]]);
  const sizes = sizesOf(filesIn(folder));
  return Array.from({ length: open - since.segment + 1 }, (_, at): Segment => {
    const number = since.segment + at;
    const span = known.get(number);
    // A segment of another size has been edited, so its times are not known.
    const isSame = span !== undefined && span.bytes === sizes.get(number);
    return isSame ? { number, bytes: span.bytes, ...timesOf(span) } : { number, ...unknown };
  });
}

function timesOf({ lines, firstAt, lastAt }: Span): Pick<Segment, "firstKey" | "lastKey"> {
  if (firstAt !== "" && lastAt !== "") return { firstKey: sortKeyOf(firstAt), lastKey: sortKeyOf(lastAt) };
  return lines === 0 ? { firstKey: "~", lastKey: "" } : unknownTimes;
}

function sizesOf(files: readonly ListedFile[]): Map<number, number> {
  return new Map(
    files.flatMap(({ path, bytes }) => {
      const file = runFileAt(path);
      return file?.kind === "segment" ? [[file.number, bytes] as const] : [];
    }),
  );
}

export interface PlacedEvent extends TimePlace {
  readonly event: WireEvent;
  /** In an answer. */
  readonly bytes: number;
}

/** Damaged lines next to each other. They have no time, but the place of the event before them, if there is one. */
export interface DamagedLines extends TimePlace {
  readonly count: number;
}

/** The events of one segment between two places, and the damaged lines there. */
export function eventsIn(
  segments: SegmentReader,
  { number: segment, bytes: segmentBytes }: Segment,
  { since, until }: { readonly since: Place; readonly until: Place },
): { readonly events: PlacedEvent[]; readonly damaged: DamagedLines[] } {
  const { text: whole, lines } = segments.read(segment);
  const isAscii = textOf(whole).length === segmentBytes;
  const first = segment === since.segment ? since.line : 0;
  const end = segment === until.segment ? Math.min(until.line, lines.length) : lines.length;
  const wanted = lines.slice(first, end);
  const events: PlacedEvent[] = [];
  const damaged: DamagedLines[] = [];
  for (const [at, parsed] of parseLines(wanted).entries()) {
    const text = wanted[at] ?? "";
    const event = "event" in parsed ? parsed.event : null;
    const bytes = event === null ? Infinity : bytesInAnswer(text, isAscii);
    // Only a person can have written an event that is too large for an answer.
    if (event !== null && bytes <= runLimits.pageBytesMax) {
      events.push({ event, key: sortKeyOf(event.timestamp), segment, line: first + at, bytes });
    } else if (text.trim() !== "") addDamage(damaged, events.at(-1) ?? { key: "", segment, line: -1 });
  }
  return { events, damaged };
}

function addDamage(damaged: DamagedLines[], { key, segment, line }: TimePlace): void {
  const isNext = damaged.at(-1)?.line === line;
  const before = isNext ? damaged.pop() : undefined;
  damaged.push({ key, segment, line, count: (before?.count ?? 0) + 1 });
}

export function compareInTime(a: TimePlace, b: TimePlace): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return comparePlaces(a, b);
}

export const comparePlaces = (a: Place, b: Place): number => a.segment - b.segment || a.line - b.line;

/** Puts events in the order of time. Most are already: then nothing is sorted. */
export function joinInTime(events: readonly PlacedEvent[], more: readonly PlacedEvent[]): PlacedEvent[] {
  const all = [...events, ...more];
  const isOrdered = more.every((event, at) => {
    const before = all[events.length + at - 1];
    return before === undefined || compareInTime(before, event) <= 0;
  });
  return isOrdered ? all : all.toSorted(compareInTime);
}
