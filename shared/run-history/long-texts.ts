/**
 * JSON texts that are too long for one event: they are stored in parts before it, and joined when they are loaded. So
 * an event stays within a line, an answer and the guest's memory. It is there as soon as its last line is.
 */
import { utf8Bytes } from "../text.ts";
import type { Event } from "./event.ts";
import { partChars, partsMax } from "./payloads/opaque.ts";
import { inputError } from "./run-history-error.ts";
import type { WireEvent } from "./wire-event.ts";
import { decodeEvent } from "./wire.ts";

/** Events of one append, which is named so that a retry stores them once. */
export interface PartBatch {
  readonly events: readonly WireEvent[];
  readonly appendId: string;
}

/** Bytes of parts as JSON in one input, with room for the rest. */
const batchBytesMax = 480 * 1024;

/** `appendId`: of the whole append, or something that no other append has. */
export async function splitTexts(
  events: readonly WireEvent[],
  appendId: string,
): Promise<{ readonly events: readonly WireEvent[]; readonly batches: readonly PartBatch[] }> {
  const batches: PartBatch[] = [];
  const short: WireEvent[] = [];
  for (const [at, event] of events.entries()) {
    const { format, json } = longTextOf(event);
    if (json === "") short.push(event);
    else if (json.length > partChars * partsMax) throw tooLong(`events[${at}].data.json`, json.length);
    else {
      const partOf = await sha256(JSON.stringify([appendId, at, json]));
      const count = Math.ceil(json.length / partChars);
      const parts = Array.from({ length: count }, (_, index): WireEvent => {
        const text = json.slice(index * partChars, (index + 1) * partChars);
        return { ...event, type: "part", data: JSON.stringify({ part_of: partOf, index, text }), labels: {} };
      });
      for (const batch of inBatches(parts)) batches.push({ events: batch, appendId: `${partOf}/${batches.length}` });
      const preview = json.slice(0, 4_000);
      short.push({ ...event, data: JSON.stringify({ format, part_of: partOf, parts: count, preview }) });
    }
  }
  return { events: short, batches };
}

/** Empty unless the event has a long text. */
function longTextOf({ type, data }: WireEvent): { readonly format?: unknown; readonly json: string } {
  if ((type !== "opaque" && type !== "snapshot") || data.length <= partChars) return { json: "" };
  const { format, json } = JSON.parse(data) as Readonly<Record<string, unknown>>;
  return typeof json === "string" && json.length > partChars ? { format, json } : { json: "" };
}

const tooLong = (field: string, chars: number) =>
  inputError("append the event", { field, value: `${chars} characters`, allowed: `at most ${partChars * partsMax}` });

function inBatches(parts: readonly WireEvent[]): WireEvent[][] {
  const batches: WireEvent[][] = [[]];
  let room = batchBytesMax;
  for (const part of parts) {
    const bytes = utf8Bytes(JSON.stringify(part));
    if (bytes > room) batches.push([]);
    room = bytes > room ? batchBytesMax - bytes : room - bytes;
    batches.at(-1)?.push(part);
  }
  return batches;
}

export async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(text))).toString("hex");
}

/** Joins the texts of loaded events. `isWhole`: whether no part is missing of a text. */
export function joinTexts(
  loaded: readonly WireEvent[],
  partsElsewhere: readonly WireEvent[] = [],
): { readonly events: readonly (Event | null)[]; readonly isWhole: boolean } {
  const parts = new Map<unknown, Map<unknown, string>>();
  for (const { type, data } of [...partsElsewhere, ...loaded]) {
    if (type !== "part") continue;
    const { part_of: partOf, index, text } = JSON.parse(data) as Readonly<Record<string, unknown>>;
    const known = parts.get(partOf) ?? new Map<unknown, string>();
    parts.set(partOf, known.set(index, String(text)));
  }
  let isWhole = true;
  const events = loaded.flatMap((wire): (Event | null)[] => {
    const { type, data, ...rest } = wire;
    if (type === "part") return [];
    const event = decodeEvent({ type, data, ...rest });
    const partOf = type === "opaque" || type === "snapshot" ? event?.data["part_of"] : undefined;
    if (event === null || typeof partOf !== "string" || partOf === "") return [event];
    const texts = parts.get(partOf);
    const inOrder = Array.from({ length: Number(event.data["parts"]) }, (_, index) => texts?.get(index));
    const isComplete = inOrder.every((text) => text !== undefined);
    isWhole &&= isComplete;
    const { format } = event.data;
    return [isComplete ? { ...event, data: { format, json: inOrder.join("") } } : null];
  });
  return { events, isWhole };
}
