/**
 * One of two processes that share a data folder and are killed at any instant: the real runtime, with concurrent callers.
 * It counts the calls of each entry, and prints the count before the next call of that caller: `done <caller> <entry>
 * <count>`, or `failed …`. After a line "stop" each caller ends its call, and the process ends.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

import type { ToolResult } from "memcell";

import { createRuntime } from "../host-under-test.ts";
import { batchOf, sharedRun } from "../runs/batch.ts";
import { entryCall } from "./entry-history.ts";

export interface LoadWorkload {
  readonly dataDir: string;
  /** The callers are users with entries, or writers who append to one run. */
  readonly kind: "entries" | "appends";
  /** By caller: the entries of this process, each with the number of its next call. */
  readonly callers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** How often this side was started. */
  readonly attempt: number;
}

const { dataDir, kind, callers, attempt } = JSON.parse(process.argv[2] ?? "") as LoadWorkload;
const plugins = kind === "entries" ? ["user-memory"] : ["run-history"];
const runtime = await createRuntime({ dataDir, plugins, threadsMax: 1 });
const works = { entries: updateEntry, appends: append };
const stopped = new AbortController();
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "go") void work();
  else stopped.abort();
});
writeSync(1, "ready\n");

async function work(): Promise<void> {
  await Promise.all(Object.keys(callers).map(workFor));
  await runtime.close();
  process.exit(0);
}

async function workFor(caller: string): Promise<void> {
  const next = { ...callers[caller] };
  while (!stopped.signal.aborted) {
    for (const [entry, count] of Object.entries(next)) {
      await works[kind](caller, entry, count);
      next[entry] = count + 1;
    }
  }
}

async function updateEntry(userId: string, entry: string, count: number): Promise<void> {
  const call = `${userId} ${entry} ${count}`;
  report(await runtime.call("UpdateUserMemory", entryCall(entry, count), { userId }), call);
  writeSync(1, `done ${call}\n`);
  report(await runtime.call("ReadUserMemory", { name: entry }, { userId }), `${call} read`);
}

async function append(writer: string, entry: string, number: number): Promise<void> {
  const { userId, ...ids } = sharedRun;
  const events = batchOf({ writer, number, attempt });
  const input = { ...ids, appendId: `${writer}-${number}`, events };
  const result = await runtime.callAsHost("AppendRunEvents", input, { userId });
  report(result, input.appendId);
  const appended = result.ok ? (result.data as { readonly appended: number }).appended : events.length;
  if (appended !== events.length) writeSync(1, `failed ${input.appendId}: ${appended} of ${events.length} events\n`);
  writeSync(1, `done ${writer} ${entry} ${number}\n`);
}

/** A missing entry is not a failure: an earlier call deleted it. */
function report(result: ToolResult, call: string): void {
  if (result.ok || result.error.code === "ENTRY_NOT_FOUND") return;
  writeSync(1, `failed ${call}: ${result.error.code} ${result.error.message}\n`);
}
