/** An event as one line of a segment: `{"type":…,"timestamp":…,"data":{…},"labels":{…}}`, the keys in this order. */
import { isEventType } from "../../shared/run-history/event-types.ts";
import { refusedJson } from "./json-text.ts";
import { parseForeignLine } from "./lossless-json.deferred.ts";
import { isLabels, isObject } from "./run-event.ts";
import type { RunEvent } from "./run-event.ts";

/** A line, or why it is no event. */
export type ParsedLine = { readonly event: RunEvent } | { readonly damage: string };

export function lineOf({ type, timestamp, data, labels }: RunEvent): string {
  return `{"type":"${type}","timestamp":"${timestamp}","data":${data},"labels":${JSON.stringify(labels)}}`;
}

const beginning = /^\{"type":"([a-z_]+)","timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,8}[1-9])?Z)","data":/;
const labelsMark = ',"labels":{';

/**
 * Checks the numbers of a line without converting them: the data stays the text that it is. Labels are flat, so the last
 * mark is the line's own.
 */
export function parseLine(line: string): ParsedLine {
  return parseOwnLine(line) ?? parseForeignLine(line);
}

function parseOwnLine(line: string): ParsedLine | null {
  const [start, type, timestamp] = beginning.exec(line) ?? [];
  const labelsAt = line.lastIndexOf(labelsMark);
  if (start === undefined || timestamp === undefined || !isEventType(type)) return null;
  if (labelsAt < start.length || !line.endsWith("}}")) return null;
  const data = line.slice(start.length, labelsAt);
  try {
    const labels: unknown = JSON.parse(line.slice(labelsAt + labelsMark.length - 1, -1));
    return isObject(JSON.parse(data)) && isLabels(labels) ? { event: { type, timestamp, data, labels } } : null;
  } catch (error) {
    refusedJson(error);
    return null;
  }
}
