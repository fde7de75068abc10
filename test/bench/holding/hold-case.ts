/** What a case is, and what all cases use. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { CallContext, ImportPlan, Runtime, ToolResult } from "memcell";

import { seededRandom } from "../../support/seeded-random.ts";
import { userFolder } from "../../support/user-files.ts";

/** Prepares what is measured, in a folder of its own, and says what is measured. */
export interface HoldCase {
  readonly key: string;
  readonly name: string;
  /** Whether it changes what it is about, so that it cannot be repeated. */
  readonly isOnce?: boolean;
  readonly prepare: (stage: HoldStage) => Promise<() => Promise<unknown>>;
}

/** What the cases of one group share. */
export interface HoldStage {
  readonly dataDir: string;
  readonly runtime: Runtime;
  /** As many of something as it takes to reach a bound, or some of them if only to see that it runs. */
  readonly count: (full: number) => number;
}

export interface CaseGroup {
  readonly plugins: readonly string[];
  readonly prepareAll: (stage: HoldStage) => Promise<void>;
  readonly cases: readonly HoldCase[];
}

export const alice: CallContext = { userId: "alice" };
export const day = "2026-01-01";
/** The clock of all calls. */
export const nowMs = Date.parse(`${day}T12:00:00Z`);
export const kib = 1_024;

export const expectOk = async (answer: Promise<ToolResult>): Promise<void> => {
  const result = await answer;
  if (!result.ok) throw new Error(result.error.message);
};

export function put(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

export const inHome = ({ dataDir }: HoldStage, path: string): string => join(userFolder(dataDir, "alice"), path);

/** Text without a line twice. */
export function lines(seed: number, bytes: number): string {
  const random = seededRandom(seed);
  let text = "";
  while (text.length < bytes) text += `${Math.floor(random() * 1e9).toString(36)}\n`;
  return text.slice(0, bytes);
}

export const dayFile = `journal/${day.replaceAll("-", "/")}.md`;

export const entryName = (at: number): string => `entry-${String(at).padStart(4, "0")}`;

export const entryText = (name: string, body: string): string =>
  `---\nname: ${name}\ndescription: About ${name}\ntype: user\ncreated: '2026-01-01T00:00:00.000Z'\nupdated: '2026-01-01T00:00:00.000Z'\n---\n${body}`;

export function refusedNone(plan: ImportPlan): void {
  if (plan.refused.length > 0) throw new Error(JSON.stringify(plan.refused[0]));
}
