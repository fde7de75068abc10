/** A process to be killed: opens a runtime, prints "ready", waits for a line, undoes a run and prints "acknowledged". */
import { writeSync, writevSync } from "node:fs";

import { openUndoRuntime, poisonedRun } from "./undo-user.ts";

const [dataDir = ""] = process.argv.slice(2);
const runtime = await openUndoRuntime(dataDir);
const alice = { userId: "alice" };
// Starts the threads.
await runtime.memoryIndex({ userId: "nobody" });

process.stdin.once("data", () => void undo());
writeSync(1, "ready\n");

async function undo(): Promise<void> {
  await runtime.upkeep.undo(alice, { run: poisonedRun });
  // Two pieces make this a `writev`, which nothing else calls.
  writevSync(1, [Buffer.from("acknowledged"), Buffer.from("\n")]);
  process.exit(0);
}
