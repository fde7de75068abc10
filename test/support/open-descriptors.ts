/** A descriptor that the host leaves open is lost at each hostile call, until the process can open nothing more. */
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { keptLimits } from "../../host/store/files/kept-sessions.ts";

/** A folder and the files below it, if this process has them open. Linux only; returns nothing elsewhere. */
export function openDescriptors(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd")
    .map(targetOf)
    .filter((path) => path === folder || path.startsWith(`${folder}/`));
}

/**
 * As `openDescriptors`, when the sessions that calls have kept are released: a timer of this length fires after theirs.
 */
export async function openDescriptorsAtRest(folder: string): Promise<string[]> {
  await setTimeout(3 * keptLimits.idleMs);
  return openDescriptors(folder);
}

/** Another thread can close the descriptor in the meantime. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
