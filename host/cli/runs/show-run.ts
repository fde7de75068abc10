/** Prints the events of a run, page by page. */
import { once } from "node:events";

import type { StoredType } from "../../../shared/run-history/event-types.ts";
import type { WireEvent } from "../../../shared/run-history/wire-event.ts";
import { counted } from "../../../shared/text.ts";
import { visibleJsonText } from "../../values/visible-text.ts";
import type { Progress } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import type { RunTools, RunIds } from "./run-tools.ts";
import { timelineLine } from "./timeline.ts";

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
