/** The steps of a process that is killed, or whose disk fails, and the folder that it starts with. */
import { cpSync, existsSync, mkdirSync } from "node:fs";

import type { Step } from "../homes/step.ts";
import { takeStep } from "../homes/subject.ts";
import { boots, openPlace, subjects } from "../homes/subjects.ts";
import type { Boot, SubjectName } from "../homes/subjects.ts";
import { runKilledAt } from "../run-killed-at.ts";
import { isFlush } from "../syscall-log.ts";

export interface Scenario {
  readonly name: string;
  /** What it works on. */
  readonly of: SubjectName;
  /** What was done before, by a process that has not closed its store. */
  readonly before: readonly Step[];
  /** A further step before, and the system call at which that process was killed in it. */
  readonly killedIn?: { readonly step: Step; readonly systemCall: string; readonly ordinal: number };
  /** What a person or a crash does to the folder then. */
  readonly disturb?: (dataDir: string) => void;
  /** The start of the machine. Default: the first. */
  readonly boot?: Boot;
  /** What the same process has done before. */
  readonly warm?: readonly Step[];
  readonly step: Step;
  /** Default: `full`. */
  readonly durability?: "full" | "relaxed";
  /** How often the step flushes before it is acknowledged. Default: it is not counted. */
  readonly flushes?: number;
  /** Whether the process closes its store at the end, and so waits for a retirement in the background. */
  readonly closes?: boolean;
}

/** Whether the step itself changes nothing: afterwards exactly the earlier acknowledged changes must be there. */
export const isUpkeep = ({ step }: Scenario): boolean => /^(?:look|close)/.test(step.do);

export const bootOf = ({ boot }: Scenario): Boot => boot ?? boots[0];

/** Takes steps one after the other, each with its number. */
export async function takeSteps(
  of: SubjectName,
  place: ReturnType<typeof openPlace>,
  steps: readonly Step[],
): Promise<void> {
  for (const [at, step] of steps.entries()) await takeStep(subjects[of], place, step, { number: at + 1 });
}

/** The number of the step that is killed or fails. */
export const numberOfStep = 9;

/** Makes the folder that the process starts with. */
export async function prepare(
  { of, before, killedIn, disturb }: Omit<Scenario, "name" | "step">,
  dataDir: string,
): Promise<void> {
  const used = `${dataDir}-used`;
  const place = openPlace(used, boots[0]);
  await takeSteps(of, place, before);
  if (existsSync(used)) cpSync(used, dataDir, { recursive: true });
  else mkdirSync(dataDir);
  // Only now: until the store is closed, its frames must not be settled.
  await place.store.close();
  if (killedIn !== undefined) {
    const { step, systemCall, ordinal } = killedIn;
    const point = { systemCall, ordinal, threads: isFlush(systemCall) ? "all" : "main" } as const;
    const said = await runKilledAt(point, workloadOf({ of, step }, dataDir));
    if (said !== "ready\n") throw new Error("The process that was to leave records behind was not killed");
  }
  disturb?.(dataDir);
}

/** What the process that is killed gets to know. */
export interface Workload extends Required<Pick<Scenario, "of" | "boot" | "warm" | "step" | "durability" | "closes">> {
  readonly dataDir: string;
}

export function workloadOf(scenario: Omit<Scenario, "name" | "before">, dataDir: string): string {
  const { of, boot = boots[0], step, warm = [], durability = "full", closes = false } = scenario;
  return JSON.stringify({ dataDir, of, boot, warm, step, durability, closes } satisfies Workload);
}
