/**
 * A process that writes a log, and that tests kill, keep waiting, or run on a failing disk. It prints "ready", waits for
 * a line, opens the log and makes four long records. It prints how each step ends.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { openLog, smallestFile, writeRun } from "./log-writing.ts";

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

async function writeRecords(): Promise<void> {
  const log = await openLog(folder, { file, waitMs, fileBytesMax: smallestFile }).catch((error: { code?: unknown }) => {
    tell(`no open ${String(error.code)}`);
  });
  if (!log) return;
  tell("ok open");
  for (const count of [1, 2, 3, 4]) {
    const code = await log.longCall(count);
    tell(code === "ok" ? `ok ${count}` : `no ${count} ${code}`);
  }
  if (holds) await setTimeout(600_000);
  await log.runtime.close();
  tell("ok close");
}

// Loads all modules, so that each run makes the same system calls from here on.
await writeRun(folder, [0], { file: join(folder, "warm", "audit.jsonl") });
process.stdin.once("data", () => void writeRecords().then(() => process.exit(0)));
tell("ready");
