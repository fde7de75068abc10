/**
 * The names that people give to files, as paths have them and as a disk has them. A disk can have one name in several
 * forms of Unicode, which look the same: then the form NFC is the file, or else the first in the order of their code
 * units. The others are listed as the disk has them, which no path can be.
 */
import { linkSync, lstatSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import type { Stats } from "node:fs";

import { decodedName, encodedName, isEncodedName } from "../../shared/encoded-name.ts";
import { ToolError } from "../values/tool-error.ts";
import type { DirectoryEntry } from "./directory.ts";
import { systemCode } from "./disk-failure.ts";
import type { FolderHandle } from "./folder-handle.ts";

/** The entries of one folder, with their names as paths have them. */
export function withEncodedNames(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  const chosen = new Map<string, string>();
  const encoded = entries.map(({ name }) => encodedName(name));
  for (const [at, { name }] of entries.entries()) {
    const path = encoded[at];
    if (typeof path === "string" && path !== name) chosen.set(path, chosenOf(name, chosen.get(path)));
  }
  return entries.map((entry, at) => {
    const path = encoded[at] ?? entry.name;
    if (encoded[at] === null && isEncodedName(entry.name)) return { name: asNoPath(entry.name), kind: entry.kind };
    const isChosen = path === entry.name || chosen.get(path) === entry.name;
    return isChosen ? { name: path, kind: entry.kind } : entry;
  });
}

/** A disk's name that looks like how a path has another one. No path has this text. */
const asNoPath = (name: string): string => name.replaceAll("%", "%25");
const onDiskAgain = (name: string): string => name.replaceAll("%25", "%");

/**
 * Gives a file or a folder that a listing shows under a name that no path has the name of a path. `false` if something has
 * that name, or if it is anything else, such as a link. Replaces nothing.
 */
export function giveName(folder: FolderHandle, listed: string, name: string): boolean {
  const factsOf = (text: string): Stats | undefined => lstatSync(folder.child(text), { throwIfNoEntry: false });
  const present = [listed, onDiskAgain(listed)].find((each) => factsOf(each) !== undefined);
  const facts = present === undefined ? undefined : factsOf(present);
  const given = decodedName(name);
  if (present === undefined || factsOf(given) !== undefined) return false;
  if (facts?.isDirectory() === true) renameSync(folder.child(present), folder.child(given));
  if (facts?.isFile() === true && !linked(folder.child(present), folder.child(given)))
    renameSync(folder.child(present), folder.child(given));
  return facts?.isDirectory() === true || facts?.isFile() === true;
}

/** A hard link replaces nothing, and a rename would. `false`: the disk has none. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if (["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
  unlinkSync(from);
  return true;
}

/**
 * The name of an existing file or folder as the disk has it; of a new one, the form NFC. Throws `CAPABILITY_DENIED` for a
 * name that no path has: the grammars above should have refused it.
 */
export function nameOnDisk(folder: FolderHandle, name: string): string {
  if (!isEncodedName(name))
    throw new ToolError("CAPABILITY_DENIED", "Cannot use a name that is not one component of a path");
  const composed = decodedName(name);
  if (lstatSync(folder.child(composed), { throwIfNoEntry: false }) !== undefined) return composed;
  const others = readdirSync(folder.itself()).filter((each) => each.normalize("NFC") === composed);
  return others.toSorted()[0] ?? composed;
}

const isComposed = (name: string): boolean => name === name.normalize("NFC");

function chosenOf(name: string, other = name): string {
  if (isComposed(name) !== isComposed(other)) return isComposed(name) ? name : other;
  return name < other ? name : other;
}
