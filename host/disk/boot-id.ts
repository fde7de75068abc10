import { readFileSync } from "node:fs";

/**
 * What tells one start of the machine from the next, or `null` where the system does not say. Without it every WAL
 * that another process left counts as one from before a crash, which loses nothing, costs more, and moves recent edits
 * by hand to the trash.
 */
export function readBootId(): string | null {
  try {
    const id = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}
