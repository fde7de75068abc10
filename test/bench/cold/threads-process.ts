/**
 * A fresh process that keeps the given number of threads busy for many calls. Then prints its resident memory in MB.
 *
 * usage: node threads-process.js DATA-FOLDER THREADS
 */
import { createRuntime } from "memcell";

import { upsertInput } from "../entry.ts";

const callsPerThread = 60;

const [dataDir = "", threads = "1"] = process.argv.slice(2);
const threadsCount = Number(threads);
let startedCount = 0;
process.on("worker", () => startedCount++);

const runtime = await createRuntime({ dataDir, threadsMax: threadsCount, durability: "relaxed" });
// Two users for each thread, so that none waits for work.
const users = Array.from({ length: threadsCount * 2 }, (_, at) => `user-${at}`);
await Promise.all(users.map((userId) => callOften(userId)));
const residentMb = process.memoryUsage.rss() / 1e6;
await runtime.close();
if (startedCount !== threadsCount) throw new Error(`${startedCount} threads were started, not ${threadsCount}`);
console.log(JSON.stringify({ residentMb }));

async function callOften(userId: string): Promise<void> {
  for (let turn = 0; turn < callsPerThread / 2; turn++) {
    const result = await runtime.call("UpdateUserMemory", upsertInput(turn % 10, turn), { userId });
    if (!result.ok) throw new Error(result.error.message);
  }
}
