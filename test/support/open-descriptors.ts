/** What a process forgets to close it forgets once for each hostile call, until it can open nothing any more. */
import { readdirSync, readlinkSync } from "node:fs";

/** What all threads of this process hold open below a folder. Linux only; elsewhere nothing is seen. */
export function openDescriptors(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd")
    .map(targetOf)
    .filter((path) => path.startsWith(folder));
}

/** Another thread may have closed it meanwhile. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
