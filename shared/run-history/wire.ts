import { dataDepthMax, isTooDeep } from "../data-depth.ts";
/** Events as the tools take and return them: the data is JSON text, so every number keeps its digits. */
import { presentValue } from "../text.ts";
import { copyJson } from "./copy-json.ts";
import { isMap } from "./data-map.ts";
import type { DataMap } from "./data-map.ts";
import type { EventType } from "./event-types.ts";
import type { Event, EventData } from "./event.ts";
import { jsonOf } from "./json-of.ts";
import { readLossless } from "./lossless.ts";
import { isPayload } from "./payload.ts";
import { presentTimestamp } from "./present-timestamp.ts";
import { inputError } from "./run-history-error.ts";
import type { Labels, WireEvent } from "./wire-event.ts";

/** An event to append: one of `newEvent`, or one that a program has made itself. */
export interface GivenEvent {
  readonly type: EventType;
  /** As for `newEvent`. */
  readonly timestamp?: Date | string | undefined;
  /** A map under goa-ai's keys, or what a constructor returned. */
  readonly data: DataMap | EventData;
  /** Default: none. */
  readonly labels?: Labels | undefined;
}

/** `place`: `events[0]`, say. */
export function encodeEvent({ type, timestamp, data, labels }: GivenEvent, place: string): WireEvent {
  if (isPayload(data) && data.eventType !== type) {
    throw inputError("append the event", {
      field: `${place}.type`,
      value: presentValue(type),
      allowed: `"${data.eventType}", the type of its data`,
    });
  }
  return {
    type,
    timestamp: presentTimestamp(timestamp, `${place}.timestamp`),
    data: jsonOf((isPayload(data) ? data.toMap() : data) ?? null, `${place}.data`),
    labels: copyJson(labels ?? {}, `${place}.labels`),
  };
}

/** `null` if the data is nested too deeply to be handed on. Only a person can have written that into a file. */
export function decodeEvent({ type, timestamp, data, labels }: WireEvent & Pick<Event, "type">): Event | null {
  const map = readLossless(data);
  return isMap(map) && !isTooDeep(map, dataDepthMax) ? { type, timestamp, data: map, labels: { ...labels } } : null;
}
