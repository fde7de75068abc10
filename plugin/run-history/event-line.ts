/** An event as one line of a segment: `{"type":…,"timestamp":…,"data":{…},"labels":{…}}`, the keys in this order. */
import { isStoredType } from "../../shared/run-history/event-types.ts";
import { normalTimestamp } from "../../shared/run-history/timestamp.ts";
import type { WireEvent } from "../../shared/run-history/wire-event.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { isObject } from "../kit/check-value.ts";
import { parseJson } from "./json-text.ts";
import { parseForeignLine } from "./lossless-json.deferred.ts";
import { isLabels } from "./run-event.ts";

/** A line, or why it is no event. */
export type ParsedLine = { readonly event: WireEvent } | { readonly damage: string };

export function lineOf({ type, timestamp, data, labels }: WireEvent): string {
  return `${beginningOf(type, timestamp)}${data}${endOf(labels)}`;
}

const beginningOf = (type: string, timestamp: string): string => `{"type":"${type}","timestamp":"${timestamp}","data":`;

const noLabels = ',"labels":{}}';

function endOf(labels: WireEvent["labels"]): string {
  for (const _name in labels) return `,"labels":${JSON.stringify(labels)}}`;
  return noLabels;
}

/**
 * Parses lines. Numbers are checked but not converted: the data stays the text that it is. The engine parses all lines
 * at once, which takes a third of the time, or each on its own if one of them is damaged.
 */
export function parseLines(lines: readonly string[]): ParsedLine[] {
  const values = parseJson(`[${lines.join(",")}]`);
  if (Array.isArray(values) && values.length === lines.length) {
    const parsed = lines.map((line, at) => parseLine(line, (values as unknown[])[at]));
    // Lines that are no JSON can be JSON together. Then one of them closes more than it opens, and is damaged.
    if (parsed.every((each) => "event" in each)) return parsed;
  }
  return lines.map((line) => parseLine(line, parseJson(line)));
}

/** `value`: what the engine's own parser makes of the line, for which it rounds numbers. */
function parseLine(line: string, value: unknown): ParsedLine {
  if (!isObject(value)) return parseForeignLine(line);
  const { type, timestamp, data, labels } = value;
  if (!isStoredType(type) || !isNormal(timestamp) || !isObject(data) || !isLabels(labels))
    return parseForeignLine(line);
  const [beginning, end] = [beginningOf(type, timestamp), endOf(labels)];
  const text = line.slice(beginning.length, -end.length);
  const isOwn = line.startsWith(beginning) && line.endsWith(end) && isOneObject(text);
  return isOwn ? { event: { type, timestamp, data: text, labels } } : parseForeignLine(line);
}

const normal =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{0,8}[1-9])?Z$/;

/** Whether a timestamp has the form that tools write. Every month has 28 days, so few take a closer look. */
function isNormal(timestamp: unknown): timestamp is string {
  if (typeof timestamp !== "string" || !normal.test(timestamp)) return false;
  return timestamp.slice(8, 10) <= "28" || normalTimestamp(timestamp) === timestamp;
}

/**
 * Whether what is between a line's beginning and its end is only the data: a person's line can have further keys there.
 * Data without an object in it ends at its first `}`.
 */
const isOneObject = (text: string): boolean => text.indexOf("}") === text.length - 1 || isObject(parseJson(text));

/** At least as many as the event takes: an answer has the line's parts, a comma, and labels even if the line has none. */
export function bytesInAnswer(line: string, isAscii: boolean): number {
  const json = JSON.stringify(line);
  return (isAscii ? json.length : utf8Bytes(json)) + 16;
}
