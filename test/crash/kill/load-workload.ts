/**
 * A process under load, with the real runtime and concurrent callers, which is killed at any instant. It counts the
 * updates of each entry, and knows what a read must show after each. All callers can note each update in one shared
 * store. It prints `done <user> <entry> <count>` before the next update of that user, or `failed …`.
 */
import { writeSync } from "node:fs";

import { createRuntime } from "../host-under-test.ts";
import { bodyOf, entryCall } from "./entry-history.ts";

export interface LoadWorkload {
  readonly dataDir: string;
  /** The id of the shared store. Default: none. */
  readonly shared?: string;
  /** By user: the entries of this process, each with the number of its next call. */
  readonly callers: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const { dataDir, shared, callers } = JSON.parse(process.argv[2] ?? "") as LoadWorkload;
const runtime = await createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1 });
process.stdin.once("data", () => void Promise.all(Object.entries(callers).map(work)));
writeSync(1, "ready\n");

async function work([userId, entries]: readonly [string, Readonly<Record<string, number>>]): Promise<void> {
  for (let round = 0; ; round++) {
    for (const [entry, first] of Object.entries(entries)) await update(userId, entry, first + round);
  }
}

async function update(userId: string, name: string, count: number): Promise<void> {
  const call = `${userId} ${name} ${count}`;
  const results = [await runtime.call("UpdateUserMemory", entryCall(name, count), { userId })];
  if (shared !== undefined) results.push(await note(shared, userId, `${userId}-${name}-${count}`));
  for (const each of results) if (!each.ok) writeSync(1, `failed ${call}: ${each.error.code}\n`);
  writeSync(1, `done ${call}\n`);
  const read = await runtime.call("ReadUserMemory", { name }, { userId });
  const shown = read.ok ? (read.data as { readonly body: string }).body : read.error.code;
  if (shown !== bodyOf(count)) writeSync(1, `failed ${call}: shows ${JSON.stringify(shown)}\n`);
}

function note(id: string, userId: string, key: string): ReturnType<typeof runtime.call> {
  const input = { command: "create", path: `/memories/shared/${id}/${key}`, content: key };
  return runtime.call("memory", input, { userId, stores: [{ id, kind: "chat" }] });
}
