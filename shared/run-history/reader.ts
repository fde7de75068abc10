import type { EventType } from "./event-types.ts";
import { copyEvent } from "./event.ts";
import type { Event } from "./event.ts";
import type { Snapshot } from "./snapshot.ts";
import { normalTimestamp, sortKeyOf } from "./timestamp.ts";

/**
 * Reads a snapshot. Each call returns new copies, so changing them changes nothing else.
 *
 * @example
 * const events = [
 *   newEvent("2026-01-01T12:00:01Z", userMessageData({ message: "second" })),
 *   newEvent("2026-01-01T12:00:00Z", userMessageData({ message: "first" })),
 * ];
 * const reader = new Reader({ events });
 * console.log(reader.latest("user_message").data.message); // second
 * console.log(reader.filterByType("thinking").length); // 0
 */
export class Reader {
  readonly #events: readonly Event[];

  constructor({ events }: Pick<Snapshot, "events">) {
    const keyed = events.map((event) => ({ event: copyEvent(event), key: keyOf(event) }));
    this.#events = keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ event }) => event);
  }

  /** All events in the order of time; equal times in the order of the snapshot. */
  events(): Event[] {
    return this.#events.map(copyEvent);
  }

  /** The events of one type, in the same order. */
  filterByType(type: EventType): Event[] {
    return this.#events.filter((event) => event.type === type).map(copyEvent);
  }

  /** The last event of one type in the order of time; `undefined` if there is none. */
  latest(type: EventType): Event | undefined {
    const found = this.#events.findLast((event) => event.type === type);
    return found && copyEvent(found);
  }
}

/** An event that is not appended yet can have no timestamp: it is before all others. */
const keyOf = ({ timestamp }: Event): string => sortKeyOf(normalTimestamp(timestamp) ?? "");
