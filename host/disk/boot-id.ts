import { readFileSync } from "node:fs";

/**
 * Reads the machine's boot id, which changes with each start; `null` if the system has none. Without it, every journal that
 * another process left is treated as left by a crash. That loses nothing, but costs more and moves recent edits by hand
 * to the trash.
 */
export function readBootId(): string | null {
  try {
    const id = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}
