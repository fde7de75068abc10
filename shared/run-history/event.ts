import { copyJson } from "./copy-json.ts";
import type { DataMap } from "./data-map.ts";
import type { EventType } from "./event-types.ts";
import { presentTimestamp } from "./present-timestamp.ts";
import type { Labels } from "./wire-event.ts";

/** One entry of a run's history. */
export interface Event {
  readonly type: EventType;
  /** When it happened: RFC 3339 in UTC, with up to nine digits of a second. Empty: when it is appended. */
  readonly timestamp: string;
  /** The data under goa-ai's keys. Numbers of a loaded event are `LosslessNumber`s. Decoders read it. */
  readonly data: DataMap;
  readonly labels: Labels;
}

/** The data of an event, as its type has it. */
export interface EventData {
  readonly eventType: EventType;
  /** A new copy of the data under goa-ai's keys. Fields without a value are left out where goa-ai leaves them out. */
  toMap(): DataMap;
}

/** Metadata that a planner or a policy adds to a run. */
export interface Annotation {
  readonly message: string;
  readonly labels: Labels;
}

/**
 * Makes an event of its data. `timestamp`: a date, or RFC 3339 text of any time zone with up to nine digits of a second;
 * `undefined` for the time at which the event is appended. `labels`: default none. Keeps copies of all it is given.
 *
 * Throws a `RunHistoryError` with `INPUT_INVALID`.
 *
 * @example
 * const event = newEvent("2026-01-01T12:00:00.000000001+01:00", userMessageData({ message: "Hello" }), { turn: "1" });
 * console.log(event.timestamp); // 2026-01-01T11:00:00.000000001Z
 * console.log(event.data.message); // Hello
 */
export function newEvent(timestamp: Date | string | undefined, data: EventData, labels: Labels = {}): Event {
  return {
    type: data.eventType,
    timestamp: presentTimestamp(timestamp, "timestamp"),
    data: data.toMap(),
    labels: { ...labels },
  };
}

export function copyEvent({ type, timestamp, data, labels }: Event): Event {
  return { type, timestamp, data: copyJson(data, "data"), labels: { ...labels } };
}
