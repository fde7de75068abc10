import type { Directory } from "../../../disk/directory.ts";
import { damagedWalPrefix, walFile } from "./wal-names.ts";

/** Renames a WAL that cannot be used, and returns the new name. */
export function putWalAside(own: Directory): string {
  const taken = new Set(own.entries().map(({ name }) => name));
  let count = 1;
  while (taken.has(`${damagedWalPrefix}${count}`)) count++;
  own.rename(walFile, own, `${damagedWalPrefix}${count}`);
  return `${damagedWalPrefix}${count}`;
}
