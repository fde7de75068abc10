import { isEncodedName } from "./encoded-name.ts";
import { storeLimits } from "./limits.ts";

/**
 * The grammar of a path inside a scope: names, joined by `/`, each of `[A-Za-z0-9_-][A-Za-z0-9._-]*` or
 * percent-encoded (`encoded-name.ts`).
 *
 * A matching string has no empty, `.` or `..` name, also not when it is decoded, no separator of another system, no
 * control character and nothing outside ASCII. So a store can use it without checking the disk first.
 */
export function isScopePath(path: string): boolean {
  if (path.length === 0 || path.length > storeLimits.pathCharsMax) return false;
  return bytesOfNames(path) <= storeLimits.pathBytesMax && path.split("/").every(isEncodedName);
}

/** Each byte that is encoded takes three characters. */
const bytesOfNames = (path: string): number => path.length - 2 * (path.split("%").length - 1);

/** The grammar of a listing's `prefix`: empty, or a path that can also end in `/`. */
export function isScopePrefix(prefix: string): boolean {
  if (prefix === "") return true;
  return isScopePath(prefix.endsWith("/") ? prefix.slice(0, -1) : prefix);
}

/** The parent folders of a path inside its scope, the outermost first. */
export function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

/** The grammar of a scope's name. It is also the folder's name, next to the host's `.memcell`. */
export const scopeName: RegExp = /^[a-z][a-z0-9-]{0,31}$/;

/** Where `store_trash` moves files. Tools can read it but not write to it, in any spelling of upper and lower case. */
export const trashFolder = "trash";

export function isTrashPath(path: string): boolean {
  const folder = path.slice(0, trashFolder.length + 1).toLowerCase();
  return folder === trashFolder || folder === `${trashFolder}/`;
}

const trashedPattern = /^trash\/(.+)\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:-\d+)?(\.[^./]+)?$/;

/** Returns a trashed file's old path and the time it was trashed, or `null` for a name that no host gives. */
export function parseTrashPath(path: string): { path: string; epochMs: number } | null {
  const [, base, year, month, day, hour, minute, second, ms, ending = ""] = trashedPattern.exec(path) ?? [];
  if (base === undefined) return null;
  const time = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
  const epochMs = Date.parse(time);
  // `Date.parse` moves a day that the month does not have, such as 31 April, to the next month.
  if (Number.isNaN(epochMs) || new Date(epochMs).toISOString() !== time) return null;
  return { path: base + ending, epochMs };
}

/** Whether a listing with this prefix shows a file. Files below `trash/` appear only if the prefix is there too. */
export function isListed(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (!isTrashPath(path) || isTrashPath(prefix));
}
