/** Prints the events of a run, page by page. */
import { once } from "node:events";

import type { StoredType } from "../../../shared/run-history/event-types.ts";
import { eventTypes } from "../../../shared/run-history/event-types.ts";
import type { WireEvent } from "../../../shared/run-history/wire-event.ts";
import { counted, utf8Bytes } from "../../../shared/text.ts";
import { visibleJsonText, visibleName, visibleText } from "../../values/visible-text.ts";
import { shortened } from "../columns.ts";
import type { Progress } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import type { RunTools, RunIds } from "./run-tools.ts";

export interface Selection {
  /** Default: all types. */
  readonly types: readonly StoredType[] | undefined;
  /** How many of the selected events, the latest ones. Default: all. */
  readonly last: number | undefined;
}

/** Where the commands of runs print, and how. */
export interface RunOutput {
  readonly terminal: Terminal;
  readonly progress: Progress;
  readonly isJson: boolean;
}

/** Holds one page in memory, and with `last` at most so many events. */
export async function showRun(
  tools: RunTools,
  ids: RunIds,
  { types, last }: Selection,
  { terminal: { stdout }, progress, isJson }: RunOutput,
): Promise<void> {
  let kept: readonly WireEvent[] = [];
  let [loaded, isEmpty, isDamaged] = [0, true, false];
  for await (const { events, meta } of tools.load(ids)) {
    const fit = events.filter(({ type }) => types === undefined || types.includes(type));
    if (last === undefined) await print(fit);
    else kept = kept.concat(fit).slice(-last);
    loaded += events.length;
    isEmpty &&= fit.length === 0;
    isDamaged ||= meta.damagedLines > 0;
    progress.show(counted(loaded, "event"));
  }
  if (loaded === 0 && !isDamaged) await tools.refuseUnknownRun(ids);
  await print(kept);
  if (isEmpty && !isJson) progress.print("No events\n");
  if (isDamaged) progress.warn('memcell runs: some lines are no events; "memcell doctor" names them\n');

  async function print(shown: readonly WireEvent[]): Promise<void> {
    if (shown.length === 0) return;
    const columnsMax = stdout.isTTY ? stdout.columns || null : null;
    const lines = shown.map((event) => (isJson ? jsonLine(event) : timelineLine(event, columnsMax)));
    progress.print(`${lines.join("\n")}\n`);
    if (stdout.writableNeedDrain) await once(stdout, "drain");
  }
}

/** The data stays the JSON text that it is, so that its numbers keep every digit. */
function jsonLine({ type, timestamp, data, labels }: WireEvent): string {
  const [named, texts] = [`"type":${JSON.stringify(type)}`, JSON.stringify(labels)];
  const json = `{${named},"timestamp":${JSON.stringify(timestamp)},"data":${data},"labels":${texts}}`;
  return visibleJsonText(json.replaceAll(/[\n\r]/g, " "));
}

const timeChars = "2026-01-01T00:00:00.000000000Z".length;
const typeChars = Math.max(...eventTypes.map(({ length }) => length));

/**
 * An event as one line for people: its time, its type, the size of its data, and what happened. `columnsMax`: the
 * terminal's columns, or `null` for a line of any length.
 */
function timelineLine({ type, timestamp, data }: WireEvent, columnsMax: number | null): string {
  const size = `${String(utf8Bytes(data)).padStart(6)} bytes`;
  const words = wordsOf({ type, fields: JSON.parse(data) as Fields }).filter((each) => each !== "");
  const line = visibleText([timestamp.padEnd(timeChars), type.padEnd(typeChars), size, ...words].join("  "));
  return columnsMax === null ? line : shortened(line, columnsMax);
}

/** Not checked: only the types of the fields that are shown are looked at. */
type Fields = Readonly<Record<string, unknown>>;

function wordsOf({ type, fields }: { readonly type: WireEvent["type"]; readonly fields: Fields }): string[] {
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
