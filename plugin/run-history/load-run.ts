/** Loads a run in pages, in the order of time or of insertion; or only what is new, or what comes from the last snapshot on. */
import { counted } from "../../shared/text.ts";
import { isObject } from "../kit/check-value.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { formatCursor, invalidCursor, noRun, parseCursor, runStart } from "./cursor.ts";
import type { Cursor, Place, TimePlace } from "./cursor.ts";
import { parseLines } from "./event-line.ts";
import { findRun } from "./find-run.ts";
import type { Run } from "./find-run.ts";
import { parseJson } from "./json-text.ts";
import { SegmentReader, unreadable } from "./run-files.ts";
import { checkIds, folderOf } from "./run-ids.ts";
import type { RunIds } from "./run-ids.ts";
import { runLimits } from "./run-limits.ts";
import type { LoadInput, LoadOutput } from "./schemas.ts";
import { compareInTime, comparePlaces, eventsIn, joinInTime, segmentsFrom } from "./segments-in-time.ts";
import type { DamagedLines, PlacedEvent, Segment } from "./segments-in-time.ts";

const toolName = "LoadRun";

const cursorInput = { toolName, field: "cursor" } as const;

export function loadRun(input: LoadInput): Answer<LoadOutput> {
  const { agentId, runId, cursor, from: start, order } = input;
  checkIds(toolName, { agentId, runId });
  const reader = new SegmentReader(folderOf({ agentId, runId }));
  const run = findWhole({ agentId, runId }, reader);
  if (run === null) return emptyAnswer(input);
  const { head } = run;
  const beginning = start === "snapshot" ? snapshotOf(run, reader) : runStart;
  const from = cursor === undefined ? { since: beginning, page: null } : parseCursor(cursor, head, cursorInput);
  const until = from.page?.until ?? endOf(run, reader);
  const isInserted = order === "insertion";
  const isOfOtherOrder = from.page !== null && isInserted !== (from.page.after === undefined);
  if (comparePlaces(from.since, until) > 0 || isOfOtherOrder) throw invalidCursor(cursor ?? "", cursorInput);
  const page = isInserted ? insertedPage(run, reader, from.since, until) : loadPage(run, reader, from, until);
  const { events, next, damaged } = page;
  return {
    message: `${counted(events.length, "event")}${next === null ? "" : ", more follow"}`,
    data: {
      agentId,
      runId,
      events: events.map(({ event }) => event),
      more: next !== null,
      meta: {
        bytes: head.closed.bytes + head.open.bytes,
        segments: head.closedSegments + 1,
        damagedLines: damaged,
        cursor: formatCursor(next ?? { since: until, page: null }, head),
      },
    },
  };
}

/** Where the last snapshot begins, unless a person has moved it: then the run's start. */
function snapshotOf({ head: { lastSnapshot } }: Run, reader: SegmentReader): Place {
  if (lastSnapshot === undefined) return runStart;
  const { segment, line, partOf } = lastSnapshot;
  const [first] = parseLines(reader.read(segment).lines.slice(line, line + 1));
  const { type, data } = first !== undefined && "event" in first ? first.event : { type: "", data: "{}" };
  const fields = type === "snapshot" || type === "part" ? parseJson(data) : undefined;
  const isThere = isObject(fields) && (fields["part_of"] ?? "") === partOf && (fields["index"] ?? 0) === 0;
  return isThere ? { segment, line } : runStart;
}

/** A cursor of a run that is gone cannot mean anything. */
function emptyAnswer({ agentId, runId, cursor = noRun }: LoadInput): Answer<LoadOutput> {
  if (cursor !== noRun) throw invalidCursor(cursor, cursorInput);
  const meta = { bytes: 0, segments: 0, damagedLines: 0, cursor: noRun };
  return { message: "0 events", data: { agentId, runId, events: [], more: false, meta } };
}

/**
 * Hosts without a write-ahead log replace the files of an append one after the other. A reader without their lock can
 * meet the new segments before the new head, so it looks at the head once more.
 */
function findWhole(ids: RunIds, reader: SegmentReader): Run | null {
  const run = findRun(ids);
  return run !== null && linesIn(reader, openOf(run)) > run.head.open.lines ? findRun(ids) : run;
}

const openOf = ({ head }: Run): number => head.closedSegments + 1;

const linesIn = (reader: SegmentReader, segment: number): number => reader.read(segment).lines.length;

/** Where the run ends: where its last append began, if a reader without a lock meets its segments before their end. */
function endOf(run: Run, reader: SegmentReader): Place {
  const { segment, line } = run.head.lastAppend;
  const open = openOf(run);
  for (let number = segment; number < open; number++) {
    const isText = reader.read(number).text !== unreadable;
    if (isText && linesIn(reader, number) === (number === segment ? line : 0)) return { segment, line };
  }
  const lines = linesIn(reader, open);
  const isOld = lines < run.head.open.lines && lines === (open === segment ? line : 0);
  return isOld ? { segment, line } : { segment: open, line: lines };
}

interface Page {
  readonly events: readonly PlacedEvent[];
  readonly damaged: number;
  /** Where the next page begins, if there is one. */
  readonly next: Cursor | null;
}

/** Opens the segments one after the other. */
function insertedPage(run: Run, reader: SegmentReader, since: Place, until: Place): Page {
  const events: PlacedEvent[] = [];
  let room: number = runLimits.pageBytesMax;
  let damaged = 0;
  for (const segment of segmentsFrom(run, since)) {
    if (segment.number > until.segment) break;
    const found = eventsIn(reader, segment, { since, until });
    const end = found.events.findIndex(({ bytes }) => (room -= bytes) < 0);
    const next = found.events[end];
    events.push(...(next === undefined ? found.events : found.events.slice(0, end)));
    const here = found.damaged.filter((each) => next === undefined || comparePlaces(each, next) < 0);
    damaged += here.reduce((sum, { count }) => sum + count, 0);
    if (next !== undefined) return { events, damaged, next: { since: next, page: { until } } };
  }
  return { events, damaged, next: null };
}

/** Opens segments in the order of their first events, and stops when no other can have an event of this page. */
function loadPage(run: Run, reader: SegmentReader, { since, page }: Cursor, until: Place): Page {
  const after = page?.after;
  const segments = segmentsFrom(run, since)
    .filter(({ number, lastKey }) => number <= until.segment && (after === undefined || lastKey >= after.key))
    .toSorted((a, b) => compareKeys(a.firstKey, b.firstKey) || a.number - b.number);
  let events: readonly PlacedEvent[] = [];
  // The earliest event that has no room. Only events before it can still be added.
  let next: PlacedEvent | undefined;
  const damaged: DamagedLines[] = [];
  for (const segment of segments) {
    if (next !== undefined && isAfter(segment, events.at(-1))) break;
    const found = eventsIn(reader, segment, { since, until });
    for (const each of found.damaged) damaged.push({ ...each, key: each.key || segment.firstKey });
    const before = next;
    const joined = joinInTime(
      events,
      found.events.filter((each) => isBetween(each, after, before)),
    );
    const end = pageEnd(joined);
    events = joined.slice(0, end);
    next = joined[end] ?? next;
  }
  const isHere = (each: DamagedLines): boolean => isBetween(each, after, next);
  const last = events.at(-1);
  return {
    events,
    damaged: damaged.filter(isHere).reduce((sum, { count }) => sum + count, 0),
    next: next !== undefined && last !== undefined ? { since, page: { until, after: last } } : null,
  };
}

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isAfter = (segment: Segment, last: PlacedEvent | undefined): boolean =>
  last !== undefined && segment.firstKey > last.key;

const isBetween = (place: TimePlace, after: TimePlace | undefined, before: TimePlace | undefined): boolean =>
  (after === undefined || compareInTime(place, after) > 0) &&
  (before === undefined || compareInTime(place, before) < 0);

/** How many of the earliest events fit into an answer. */
function pageEnd(events: readonly PlacedEvent[]): number {
  let room: number = runLimits.pageBytesMax;
  const end = events.findIndex(({ bytes }) => (room -= bytes) < 0);
  return end === -1 ? events.length : end;
}
