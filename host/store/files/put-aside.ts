import type { Directory } from "../../disk/directory.ts";

/** Renames what cannot be used to the prefix and a number, and returns the new name. */
export function putAside(own: Directory, name: string, prefix: string): string {
  const taken = new Set(own.entries().map((entry) => entry.name));
  let count = 1;
  while (taken.has(`${prefix}${count}`)) count++;
  own.rename(name, own, `${prefix}${count}`);
  return `${prefix}${count}`;
}
