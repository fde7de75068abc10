/** Starts fresh processes and times them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface ProcessTimes {
  /** Until the first byte of output. */
  readonly firstOutputMs: number;
  readonly exitMs: number;
}

export async function timeProcess(args: readonly string[]): Promise<ProcessTimes> {
  const startMs = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let firstOutputMs = Number.NaN;
  child.stdout.once("data", () => {
    firstOutputMs = performance.now() - startMs;
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`A measured process ended with ${code}`);
  return { firstOutputMs, exitMs: performance.now() - startMs };
}

/** Returns what a process prints about itself as JSON. */
export async function askProcess<Answer>(script: string, args: readonly string[]): Promise<Answer> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`A measured process ended with ${code}`);
  return JSON.parse(output) as Answer;
}
