/** The steps of a killed process, and the folder that it starts with. */
import { cpSync, existsSync } from "node:fs";

import type { areas } from "../areas.ts";
import { takeStep } from "../memory-steps.ts";
import type { Step } from "../memory-steps.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { isFlush } from "../syscall-log.ts";
import type { Workload } from "./kill-workload.ts";
import { runKilledAt } from "./killed-run.ts";
import type { KillableProcess } from "./killed-run.ts";

export interface Scenario {
  readonly name: string;
  /** What it works on. Default: the user. */
  readonly area?: keyof typeof areas;
  /** Creates the folder that the process starts with. */
  readonly prepare: (dataDir: string) => Promise<void>;
  readonly boot: string;
  readonly warm: readonly Step[];
  readonly step: Step;
  readonly closes?: boolean;
  /** The step itself changes nothing: afterwards exactly the earlier acknowledged changes must be there. */
  readonly isUpkeep?: boolean;
}

/** A process that works on a store without a runtime. */
export const storeProcess = (workload: Workload): KillableProcess => ({ script: "kill/kill-workload.js", workload });

export const firstBoot = "first start of the machine";
export const nextBoot = "next start of the machine";

/** Returns a function that takes the steps in a folder, and leaves it as a process does that has not closed its store. */
export function takeSteps(steps: readonly Step[]): (dataDir: string) => Promise<void> {
  return async (dataDir) => {
    const used = `${dataDir}-used`;
    const store = new FileStore(new DiskRoot(used), { durability: "full", note: () => {} }, firstBoot);
    for (const step of steps) await takeStep(store, step);
    if (existsSync(used)) cpSync(used, dataDir, { recursive: true });
    // Only now: until the store is closed, the WAL must keep its records.
    await store.close();
  };
}

/** As `takeSteps`, and then leaves the folder as a process does that is killed at a system call of one more step. */
export function killedIn(
  steps: readonly Step[],
  step: Step,
  at: { readonly name: string; readonly ordinal: number },
): (dataDir: string) => Promise<void> {
  return async (dataDir) => {
    await takeSteps(steps)(dataDir);
    const workload = { dataDir, boot: firstBoot, warm: [], step, closes: false };
    const { isKilled } = await runKilledAt(storeProcess(workload), {
      ...at,
      isMainThread: !isFlush(at.name),
      text: "",
    });
    if (!isKilled) throw new Error("The process that was to leave records behind was not killed");
  };
}
