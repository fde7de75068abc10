/** Fills a folder for each group of cases, and measures one case after another. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";

import type { BenchRun } from "../bench-run.ts";
import { nowMs } from "./hold-case.ts";
import type { CaseGroup, HoldCase, HoldStage } from "./hold-case.ts";
import { longestHold } from "./longest-hold.ts";
import type { Hold } from "./longest-hold.ts";

export interface HoldingRun extends Pick<BenchRun, "isQuick"> {
  readonly repetitions: number;
}

export interface MeasuredCase extends Pick<HoldCase, "key" | "name"> {
  readonly holds: readonly Hold[];
}

/** A case that can be repeated is, so often. Its shortest hold counts: other processes only make it longer. */
export async function measureGroup(
  group: CaseGroup,
  folder: string,
  { isQuick, repetitions }: HoldingRun,
): Promise<MeasuredCase[]> {
  const dataDir = join(folder, "data");
  mkdirSync(folder, { recursive: true });
  const { plugins } = group;
  await using runtime = await createRuntime({
    dataDir,
    plugins,
    durability: "relaxed",
    clock: () => nowMs,
    auditLog: { file: `${dataDir}.log` },
  });
  const count = (full: number): number => (isQuick ? Math.ceil(full / 100) : full);
  const stage: HoldStage = { dataDir, runtime, count };
  await group.prepareAll(stage);
  const measured: MeasuredCase[] = [];
  for (const { key, name, prepare, isOnce = false } of group.cases) {
    const holds: Hold[] = [];
    for (let at = 0; at < (isOnce ? 1 : repetitions); at++) holds.push(await longestHold(await prepare(stage)));
    measured.push({ key, name, holds });
  }
  return measured;
}
