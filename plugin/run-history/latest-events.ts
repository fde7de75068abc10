/** The latest events of a run, of some types. Parts of a text come with none of them. */
import type { EventType } from "../../shared/run-history/event-types.ts";
import { runStart } from "./cursor.ts";
import type { Run } from "./find-run.ts";
import { SegmentReader } from "./run-files.ts";
import { compareInTime, eventsIn, segmentsFrom } from "./segments-in-time.ts";
import type { PlacedEvent } from "./segments-in-time.ts";

/** Not a part of a text. */
type LatestEvent = PlacedEvent & { readonly event: { readonly type: EventType } };

/** Opens segments from the one with the latest event, until no other can have one of the events. Latest first. */
export function latestEvents(run: Run, types: readonly EventType[], count: number): LatestEvent[] {
  const until = { segment: run.head.closedSegments + 1, line: Infinity };
  const segments = segmentsFrom(run, runStart).toSorted((a, b) => (a.lastKey > b.lastKey ? -1 : 1));
  const reader = new SegmentReader(run.folder);
  const isOfTypes = (placed: PlacedEvent): placed is LatestEvent =>
    (types as readonly string[]).includes(placed.event.type);
  let found: LatestEvent[] = [];
  for (const segment of segments) {
    const least = found.length < count ? undefined : found.at(-1);
    if (least !== undefined && segment.lastKey < least.key) break;
    const { events } = eventsIn(reader, segment, { since: runStart, until });
    found = [...found, ...events.filter(isOfTypes)].toSorted((a, b) => compareInTime(b, a)).slice(0, count);
  }
  return found;
}
