/**
 * A process to be killed: takes some steps, prints "ready", waits for a line, takes one more step and prints
 * "acknowledged" as soon as the store has answered.
 */
import { writeSync, writevSync } from "node:fs";

import { takeStep } from "../memory-steps.ts";
import type { Step } from "../memory-steps.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";

export interface Workload {
  readonly dataDir: string;
  readonly boot: string;
  readonly warm: readonly Step[];
  readonly step: Step;
  /** Whether the process closes its store at the end, and so waits for a retirement in the background. */
  readonly closes: boolean;
}

const { dataDir, boot, warm, step, closes } = JSON.parse(process.argv[2] ?? "") as Workload;
const store = new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} }, boot);
for (const each of warm) await takeStep(store, each);

process.stdin.once("data", () => void finish());
writeSync(1, "ready\n");

async function finish(): Promise<void> {
  await takeStep(store, step);
  // Two pieces make this a `writev`, which nothing else calls. The number of `write` calls differs from run to run,
  // because Node also wakes its threads with them.
  writevSync(1, [Buffer.from("acknowledged"), Buffer.from("\n")]);
  if (closes) await store.close();
  process.exit(0);
}
