import type { Directory } from "../../disk/directory.ts";
import type { JournalDamaged } from "./journal/format.ts";
import { damagedPrefix } from "./journal/history.ts";
import { journalFolder, logName } from "./journal/segments.ts";

/**
 * Renames a damaged segment, or the log of an earlier format, to a name and a number in the host's own folder. Returns its new
 * name.
 */
export function putAsideDamaged(own: Directory, { segment }: JournalDamaged): string {
  using journal = segment === null ? null : own.openFolder(journalFolder);
  const taken = new Set(own.entries().map((entry) => entry.name));
  let count = 1;
  while (taken.has(`${damagedPrefix}${count}`)) count++;
  const newName = `${damagedPrefix}${count}`;
  if (journal === null || segment === null) own.rename(journalFolder, own, newName);
  else journal.rename(logName(segment), own, newName);
  return newName;
}
