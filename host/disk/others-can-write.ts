import { lstat, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Write permission of the group and of everybody else. */
const othersBits = 0o022;
const stickyBit = 0o1000;

/**
 * Why others than this process's user and root can change a file, as a clause about "it"; `null` if they cannot. Looks
 * at the file itself and at all folders that lead to it: who can write to one of them can replace the file. Always `null`
 * on Windows, which has no such permissions.
 */
export async function whyOthersCanWrite(file: string): Promise<string | null> {
  if (process.getuid === undefined) return null;
  const trusted = new Set([0, process.geteuid?.(), process.getuid()]);
  const real = await realpath(file);
  const { uid, mode } = await stat(real);
  if (!trusted.has(uid)) return "it belongs to another user";
  if ((mode & othersBits) !== 0)
    return `others can write to it (mode ${shown(mode)}, allowed: ${shown(mode & ~othersBits)})`;
  for (let at = dirname(real); ; at = dirname(at)) {
    const folder = await lstat(at);
    // In a sticky folder, such as /tmp, only its owner can replace a file.
    const isOpen = (folder.mode & othersBits) !== 0 && (folder.mode & stickyBit) === 0;
    if (isOpen || !trusted.has(folder.uid)) return "others can write to a folder on the way to it";
    if (at === dirname(at)) return null;
  }
}

const shown = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");
