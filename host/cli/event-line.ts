/** An event of a run as one line: for people, and as JSON. */
import { eventTypes } from "../../shared/run-history/event-types.ts";
import type { WireEvent } from "../../shared/run-history/wire-event.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { visibleJsonText, visibleName, visibleText } from "../values/visible-text.ts";
import { shortened } from "./columns.ts";

/** The data stays the JSON text that it is, so that its numbers keep every digit. */
export function jsonLine({ type, timestamp, data, labels }: WireEvent): string {
  const [named, texts] = [`"type":${JSON.stringify(type)}`, JSON.stringify(labels)];
  const json = `{${named},"timestamp":${JSON.stringify(timestamp)},"data":${data},"labels":${texts}}`;
  return visibleJsonText(json.replaceAll(/[\n\r]/g, " "));
}

const timeChars = "2026-01-01T00:00:00.000000000Z".length;
const typeChars = Math.max(...eventTypes.map(({ length }) => length));

/** Its time, its type, the size of its data, and what happened. `columnsMax`: the terminal's columns. */
export function eventLine({ type, timestamp, data }: WireEvent, columnsMax: number): string {
  const size = `${String(utf8Bytes(data)).padStart(6)} bytes`;
  const words = wordsOf(type, JSON.parse(data) as Fields).filter((each) => each !== "");
  return shortened(
    visibleText([timestamp.padEnd(timeChars), type.padEnd(typeChars), size, ...words].join("  ")),
    columnsMax,
  );
}

/** Not checked: only the types of the fields that are shown are looked at. */
type Fields = Readonly<Record<string, unknown>>;

function wordsOf(type: WireEvent["type"], fields: Fields): string[] {
  switch (type) {
    case "user_message":
    case "assistant_message":
      return [lineIn(fields, "message") || ("structured" in fields ? "(a JSON value)" : "")];
    case "tool_call":
      return [toolIn(fields)];
    case "tool_result": {
      const error = lineIn(fields, "error_message");
      return [toolIn(fields), durationIn(fields), error === "" ? lineIn(fields, "preview") : `error: ${error}`];
    }
    case "planner_note":
      return [lineIn(fields, "note")];
    case "thinking":
      return [lineIn(fields, "text") || ("redacted" in fields ? "(redacted)" : "")];
    case "opaque":
    case "snapshot":
      return [lineIn(fields, "format")];
    case "part":
      return [];
  }
}

/** A text as one line; empty if there is none. */
function lineIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value.trim().replaceAll(/\s+/g, " ") : "";
}

function toolIn(fields: Fields): string {
  const name = fields["tool_name"];
  return typeof name === "string" ? visibleName(name) : "";
}

const units = [
  { unit: "h", ns: 3_600e9 },
  { unit: "min", ns: 60e9 },
  { unit: "s", ns: 1e9 },
  { unit: "ms", ns: 1e6 },
  { unit: "µs", ns: 1e3 },
] as const;

/** A duration with three digits or as a whole number, in a unit that suits it. */
function durationIn({ duration }: Fields): string {
  if (typeof duration !== "number" || duration === 0) return "";
  const { unit, ns } = units.find((each) => Math.abs(duration) >= each.ns) ?? { unit: "ns", ns: 1 };
  const count = duration / ns;
  return `${Math.abs(count) < 100 ? Number(count.toPrecision(3)) : Math.round(count)} ${unit}`;
}
