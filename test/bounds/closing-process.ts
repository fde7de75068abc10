/** A process that uses a runtime, closes it and prints what remains of it. `close.slow.test.ts` starts it. */
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { openBoundedStage } from "./bounded-stage.ts";
import type { BoundedStage } from "./bounded-stage.ts";

const states: Record<string, (stage: BoundedStage) => Promise<unknown>> = {
  idle: async () => {},
  "after calls": (stage) => Promise.all([stage.write("alice", "a.md"), stage.write("bob", "b.md")]),
  "after a deadline": (stage) => stage.spin("alice"),
  "after a cancelled call": async (stage) => {
    const controller = new AbortController();
    const spinning = stage.spin("alice", controller.signal);
    await stage.handedOut(1);
    controller.abort();
    await spinning;
  },
  "amid a spinning guest": async (stage) => {
    void stage.spin("alice");
    await stage.handedOut(1);
  },
};

/** The number of this process's threads, if the system shows it. */
function threadsCount(): number {
  return existsSync("/proc/self/task") ? readdirSync("/proc/self/task").length : 0;
}

const [state = ""] = process.argv.slice(2);
// Creates what a process keeps after first use: the threads that read files, and its outputs.
await readFile(fileURLToPath(import.meta.url));
process.stderr.write("");
process.stdout.write("");
const before = process.getActiveResourcesInfo();
const threadsBefore = threadsCount();
{
  await using stage = await openBoundedStage({ deadlineMs: 300, closeGraceMs: 200, threadsMax: 2 });
  await states[state]?.(stage);
  await stage.runtime.close();
}
// Closed resources disappear within the next turns of the event loop.
for (let turn = 0; turn < 10; turn++) await setImmediate();
const left = process.getActiveResourcesInfo();
for (const known of before) if (left.includes(known)) left.splice(left.indexOf(known), 1);
process.stdout.write(JSON.stringify({ state, left, threads: threadsCount() - threadsBefore }));
