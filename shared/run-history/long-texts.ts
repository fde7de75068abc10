/**
 * JSON texts that are too long for one event: they are stored in parts before it, and joined when they are loaded. So
 * an event stays within a line, an answer and the guest's memory. It is there as soon as its last line is.
 */
import { presentValue, utf8Bytes } from "../text.ts";
import { EventFault } from "./event-fault.ts";
import type { Event } from "./event.ts";
import { parseLossless } from "./lossless.ts";
import { partChars, partsMax } from "./payloads/opaque.ts";
import { inputError, RunHistoryError } from "./run-history-error.ts";
import type { WireEvent } from "./wire-event.ts";
import { decodeEvent } from "./wire.ts";

/** An append of parts, which is named so that a retry stores them once. */
export interface PartBatch {
  readonly events: readonly WireEvent[];
  readonly appendId: string;
}

/** Bytes of parts as JSON in one input, with room for the rest. */
const batchBytesMax = 480 * 1024;

/**
 * `appendId`: of the whole append, or something that no other append has. Throws for a text that is too long, or no JSON:
 * a shorter one is checked where it is stored.
 */
export async function splitTexts(
  events: readonly WireEvent[],
  appendId: string,
): Promise<{ readonly events: readonly WireEvent[]; readonly batches: readonly PartBatch[] }> {
  const batches: PartBatch[] = [];
  const short: WireEvent[] = [];
  for (const [at, event] of events.entries()) {
    const { format, json } = longTextOf(event);
    if (json === "") {
      short.push(event);
      continue;
    }
    checkText(json, `events[${at}].data.json`);
    const [partOf, digest] = [await sha256(JSON.stringify([appendId, at, json])), await sha256(json)];
    const parts = piecesOf(json).map((text, index): WireEvent => {
      const data = JSON.stringify({ part_of: partOf, index, text });
      return { type: "part", timestamp: event.timestamp, data, labels: {} };
    });
    for (const batch of inBatches(parts)) batches.push({ events: batch, appendId: `${partOf}/${batches.length}` });
    const fields = { format, part_of: partOf, parts: parts.length, sha256: digest, preview: json.slice(0, 4_000) };
    short.push({ ...event, data: JSON.stringify(fields) });
  }
  return { events: short, batches };
}

/** What events take at most, with the facts about them that are kept beside them. */
export const storedBytes = (events: readonly WireEvent[]): number =>
  events.reduce((sum, { data, labels }) => sum + utf8Bytes(data) + utf8Bytes(JSON.stringify(labels)) + 700, 0);

/** Empty unless the event has a long text. */
function longTextOf({ type, data }: WireEvent): { readonly format?: unknown; readonly json: string } {
  if ((type !== "opaque" && type !== "snapshot") || data.length <= partChars) return { json: "" };
  const { format, json } = JSON.parse(data) as Readonly<Record<string, unknown>>;
  return typeof json === "string" && json.length > partChars ? { format, json } : { json: "" };
}

function checkText(json: string, field: string): void {
  const charsMax = partChars * partsMax;
  if (json.length > charsMax) {
    throw inputError("append the event", { field, value: `${json.length} characters`, allowed: `at most ${charsMax}` });
  }
  // Neither an event nor the hash could hold half a character as it is, and a part of them could be too long.
  if (!json.isWellFormed()) {
    const allowed = "well-formed Unicode, as JSON.stringify writes it";
    throw inputError("append the event", { field, value: "a text with a lone surrogate", allowed });
  }
  try {
    JSON.parse(json);
  } catch {
    checkSlowly(json, field);
  }
}

/** As the plugin refuses a shorter text. */
function checkSlowly(json: string, field: string): void {
  try {
    parseLossless(json);
  } catch (fault) {
    if (!(fault instanceof EventFault)) throw fault;
    const issues = [{ field, value: presentValue(json), allowed: "one JSON value" }];
    throw new RunHistoryError({ code: fault.code, of: "INPUT_INVALID", message: fault.message, issues });
  }
}

/** No character is cut in two: not every language could join it. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + partChars;
    if ((text.codePointAt(end - 1) ?? 0) > 0xff_ff) end++;
    pieces.push(text.slice(start, end));
  }
  return pieces;
}

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

/** Joins the texts of loaded events; `null` in place of one of which a part is missing or another one. */
export async function joinTexts(
  loaded: readonly WireEvent[],
  partsElsewhere: readonly WireEvent[] = [],
): Promise<(Event | null)[]> {
  const parts = new Map<string, string>();
  for (const { type, data } of [...partsElsewhere, ...loaded]) {
    if (type !== "part") continue;
    const { part_of: partOf, index, text } = JSON.parse(data) as Readonly<Record<string, unknown>>;
    const name = JSON.stringify([partOf, index]);
    // A repeated part changes nothing.
    if (!parts.has(name)) parts.set(name, String(text));
  }
  const shown = loaded.flatMap(({ type, ...rest }) => (type === "part" ? [] : [decodeEvent({ type, ...rest })]));
  return await Promise.all(shown.map(async (event) => event && (await withText(event, parts))));
}

async function withText(event: Event, parts: ReadonlyMap<string, string>): Promise<Event | null> {
  const { format, json, part_of: partOf, parts: count, sha256: digest } = event.data;
  const isLong = (event.type === "opaque" || event.type === "snapshot") && !json;
  if (!isLong) return event;
  const length = Math.min(Number(String(count)) || 0, partsMax);
  const text = Array.from({ length }, (_, index) => parts.get(JSON.stringify([partOf, index])) ?? "").join("");
  return (await sha256(text)) === digest ? { ...event, data: { format, json: text } } : null;
}
