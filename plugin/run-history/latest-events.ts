/** The latest events of a run, of some types. */
import type { EventType } from "../../shared/run-history/event-types.ts";
import { runStart } from "./cursor.ts";
import type { Run } from "./find-run.ts";
import { SegmentReader } from "./run-files.ts";
import { compareInTime, eventsIn, segmentsFrom } from "./segments-in-time.ts";
import type { PlacedEvent } from "./segments-in-time.ts";

/** Opens segments from the one with the latest event, until no other can have one of the events. Latest first. */
export function latestEvents(run: Run, types: readonly EventType[] | undefined, count: number): PlacedEvent[] {
  const until = { segment: run.head.closedSegments + 1, line: Infinity };
  const segments = segmentsFrom(run, runStart).toSorted((a, b) => (a.lastKey > b.lastKey ? -1 : 1));
  const reader = new SegmentReader(run.folder);
  let found: PlacedEvent[] = [];
  for (const segment of segments) {
    const least = found.length < count ? undefined : found.at(-1);
    if (least !== undefined && segment.lastKey < least.key) break;
    const { events } = eventsIn(reader, segment, { since: runStart, until });
    const fit = events.filter(({ event }) => types === undefined || types.includes(event.type));
    found = [...found, ...fit].toSorted((a, b) => compareInTime(b, a)).slice(0, count);
  }
  return found;
}
