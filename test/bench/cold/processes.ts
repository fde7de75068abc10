/** What fresh processes measure of themselves, as JSON. Arguments: `first-call` or `threads`, a data folder, a number. */
import { createRuntime } from "memcell";

import { expectOk, upsertInput } from "../entry.ts";

const [what = "", dataDir = "", threads = "1"] = process.argv.slice(2);
console.log(JSON.stringify(await (what === "threads" ? residentMb(Number(threads)) : firstResultMs())));

/** From `createRuntime` to the first result. */
async function firstResultMs(): Promise<number> {
  const startMs = performance.now();
  await using runtime = await createRuntime({ dataDir });
  await expectOk(runtime.call("ReadUserMemory", { name: "e0" }, { userId: "alice" }));
  return performance.now() - startMs;
}

/** The process's resident memory after each of its threads has served many calls. */
async function residentMb(threadsMax: number): Promise<number> {
  const callsPerUser = 30;
  let startedCount = 0;
  process.on("worker", () => startedCount++);
  await using runtime = await createRuntime({ dataDir, threadsMax, durability: "relaxed" });
  const callOften = async (userId: string): Promise<void> => {
    for (let turn = 0; turn < callsPerUser; turn++) {
      await expectOk(runtime.call("UpdateUserMemory", upsertInput(turn % 10, turn), { userId }));
    }
  };
  // Two users for each thread, so that none waits for work.
  await Promise.all(Array.from({ length: threadsMax * 2 }, (_, at) => callOften(`user-${at}`)));
  // More, if calls waited for the disk so long that a thread went to sleep.
  if (startedCount < threadsMax) throw new Error(`${startedCount} threads were started, not ${threadsMax}`);
  return process.memoryUsage.rss() / 1e6;
}
