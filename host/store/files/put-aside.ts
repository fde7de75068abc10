import type { Directory } from "../../disk/directory.ts";

interface PutAside {
  readonly name: string;
  readonly prefix: string;
  /** Where it is; default: in the host's own folder. */
  readonly from?: Directory | null;
}

/** Renames what cannot be used to the prefix and a number, in the host's own folder, and returns the new name. */
export function putAside(own: Directory, { name, prefix, from = null }: PutAside): string {
  const taken = new Set(own.entries().map((entry) => entry.name));
  let count = 1;
  while (taken.has(`${prefix}${count}`)) count++;
  (from ?? own).rename(name, own, `${prefix}${count}`);
  return `${prefix}${count}`;
}
