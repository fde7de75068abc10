/** 6. Recovery after a call was ended, and what a quiet user feels of a flood; measured by `recovery.ts` if it is there. */
import { existsSync } from "node:fs";

import type { BenchRun } from "./bench-run.ts";
import { sectionSchema } from "./results.ts";
import type { Section } from "./results.ts";

interface RecoveryModule {
  /** Answers with a section, or with anything that JSON can say. */
  measureRecovery(run: BenchRun): Promise<unknown>;
}

export async function measureRecoverySection(run: BenchRun): Promise<Section> {
  const number = 6;
  const title = "Recovery and fairness";
  const module = await recoveryModule();
  if (!module) return { number, title, notes: ["not measured"], tables: [] };
  const found = await module.measureRecovery(run);
  const parsed = sectionSchema.safeParse(found);
  return parsed.success ? { ...parsed.data, number } : { number, title, notes: [JSON.stringify(found)], tables: [] };
}

async function recoveryModule(): Promise<RecoveryModule | null> {
  const file = new URL("recovery.js", import.meta.url);
  return existsSync(file) ? ((await import(file.href)) as RecoveryModule) : null;
}
