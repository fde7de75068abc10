import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";

/** Write permission of the group and of everybody else. */
const othersBits = 0o022;
const stickyBit = 0o1000;
/** As many as Linux follows. */
const linksMax = 40;

/**
 * Why others than this process's user and root can change a file, as a clause about "it"; `null` if they cannot. Looks
 * at everything on the way to it, also at the folders of links: who can write to one of them can put another file there.
 * Rejects if nothing is there. Always `null` on Windows, which has no such permissions.
 */
export async function whyOthersCanWrite(file: string): Promise<string | null> {
  if (process.getuid === undefined) return null;
  const trusted = new Set([0, process.geteuid?.(), process.getuid()]);
  // Not resolved as text: behind a link, ".." is the folder above its target.
  const names = namesIn(isAbsolute(file) ? file : `${process.cwd()}/${file}`);
  let [at, links] = ["/", 0];
  for (;;) {
    const facts = await lstat(at);
    if (facts.isSymbolicLink()) {
      if (!trusted.has(facts.uid)) return "a link on the way to it belongs to another user";
      if (++links > linksMax) return `more than ${linksMax} links are on the way to it`;
      const target = await readlink(at);
      names.unshift(...namesIn(target));
      at = isAbsolute(target) ? "/" : dirname(at);
      continue;
    }
    const name = names.shift();
    const isOpen = (facts.mode & othersBits) !== 0;
    if (name === undefined) {
      if (!trusted.has(facts.uid)) return "it belongs to another user";
      if (!isOpen) return null;
      return `others can write to it (mode ${shown(facts.mode)}, allowed: ${shown(facts.mode & ~othersBits)})`;
    }
    // In a sticky folder, such as /tmp, only a file's owner can replace it.
    if ((isOpen && (facts.mode & stickyBit) === 0) || !trusted.has(facts.uid)) {
      return "others can write to a folder on the way to it";
    }
    at = name === ".." ? dirname(at) : join(at, name);
  }
}

const namesIn = (path: string): string[] => path.split("/").filter((name) => name !== "" && name !== ".");

const shown = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");
