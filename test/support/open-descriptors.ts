/** A descriptor that the host leaves open is lost at each hostile call, until the process can open nothing more. */
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** A folder and the files below it, if this process has them open. Linux only; returns nothing elsewhere. */
export function openDescriptors(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd")
    .map(targetOf)
    .filter((path) => path === folder || path.startsWith(`${folder}/`));
}

/** Longer than calls keep a session, and than retiring it takes on a busy disk. */
const restMs = 5_000;

/** As `openDescriptors`, when the sessions that calls have kept are released: what is open after a while stays open. */
export async function openDescriptorsAtRest(folder: string): Promise<string[]> {
  const end = performance.now() + restMs;
  let open = openDescriptors(folder);
  for (; open.length > 0 && performance.now() < end; open = openDescriptors(folder)) await setTimeout(1);
  return open;
}

/** Another thread can close the descriptor in the meantime. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
