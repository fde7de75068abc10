/**
 * A process that writes a log, and that tests kill, keep waiting, or run on a failing disk. It prints "ready", waits
 * for a line, opens the log and writes four long records, the last of them into a new file. It prints the outcome of
 * each step.
 */
import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { longEntry } from "./audit-entries.ts";
import { openLog, smallestFile } from "./log-under-test.ts";

/** Passed as JSON. */
export interface LogWork {
  readonly folder: string;
  readonly file: string;
  readonly waitMs: number;
  /** Whether to keep the log open until the process is killed. */
  readonly holds: boolean;
}

const { folder, file, waitMs, holds } = JSON.parse(process.argv[2] ?? "") as LogWork;
const tell = (text: string): unknown => writeSync(1, `${text}\n`);

async function attempt(step: string, work: () => unknown): Promise<boolean> {
  try {
    await work();
    tell(`ok ${step}`);
    return true;
  } catch (error) {
    tell(`no ${step} ${String((error as { code?: unknown }).code)}`);
    return false;
  }
}

async function writeRecords(): Promise<void> {
  const opening = openLog(folder, { file, waitMs, fileBytesMax: smallestFile });
  if (!(await attempt("open", () => opening))) return;
  const log = await opening;
  for (const count of [1, 2, 3, 4]) await attempt(`${count}`, () => log.append(longEntry(count)));
  if (holds) await setTimeout(600_000);
  await attempt("close", () => log.close());
}

process.stdin.once("data", () => void writeRecords().then(() => process.exit(0)));
tell("ready");
