/** A process to be killed: opens a runtime, prints "ready", waits for a line, decides and prints "acknowledged". */
import { writeSync, writevSync } from "node:fs";

import { decide, openPendingRuntime } from "./pending-user.ts";
import type { Decision } from "./pending-user.ts";

export interface PendingWorkload {
  readonly dataDir: string;
  readonly decision: Decision;
}

const { dataDir, decision } = JSON.parse(process.argv[2] ?? "") as PendingWorkload;
const runtime = await openPendingRuntime(dataDir);
// Starts the threads.
await runtime.memoryIndex({ userId: "nobody" });

process.stdin.once("data", () => void work());
writeSync(1, "ready\n");

async function work(): Promise<void> {
  await decide(runtime, decision);
  // Two pieces make this a `writev`, which nothing else calls.
  writevSync(1, [Buffer.from("acknowledged"), Buffer.from("\n")]);
  process.exit(0);
}
