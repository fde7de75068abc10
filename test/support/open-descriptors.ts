/** A descriptor that the host leaves open is lost at each hostile call, until the process can open nothing more. */
import { readdirSync, readlinkSync } from "node:fs";

/** The files below a folder that this process has open. Linux only; returns nothing elsewhere. */
export function openDescriptors(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd")
    .map(targetOf)
    .filter((path) => path.startsWith(folder));
}

/** Another thread can close the descriptor in the meantime. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
