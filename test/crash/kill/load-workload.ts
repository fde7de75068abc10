/**
 * One of two processes that share a data folder and are killed at any instant: the real runtime, with concurrent calls
 * of several users. It counts the calls of each entry, and prints the count before the next call of that user: `done
 * <user> <entry> <count>`, or `failed …`.
 */
import { writeSync } from "node:fs";

import type { ToolResult } from "../../stage/store.ts";
import { createRuntime } from "../host-under-test.ts";
import { entryCall } from "./entry-history.ts";

export interface LoadWorkload {
  readonly dataDir: string;
  /** By user: the entries of this process, each with the number of its next call. */
  readonly users: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const { dataDir, users } = JSON.parse(process.argv[2] ?? "") as LoadWorkload;
const runtime = await createRuntime({ dataDir, threadsMax: 1 });
writeSync(1, "ready\n");
process.stdin.once("data", () => void Promise.all(Object.keys(users).map(workFor)));

async function workFor(userId: string): Promise<void> {
  const next = { ...users[userId] };
  for (;;) {
    for (const [entry, count] of Object.entries(next)) {
      const update = await runtime.call("UpdateUserMemory", entryCall(entry, count), { userId });
      report(update, `${userId} ${entry} ${count}`);
      writeSync(1, `done ${userId} ${entry} ${count}\n`);
      next[entry] = count + 1;
      report(await runtime.call("ReadUserMemory", { name: entry }, { userId }), `${userId} ${entry} read`);
    }
  }
}

/** A missing entry is not a failure: an earlier call deleted it. */
function report(result: ToolResult, call: string): void {
  if (result.ok || result.error.code === "ENTRY_NOT_FOUND") return;
  writeSync(1, `failed ${call}: ${result.error.code} ${result.error.message}\n`);
}
