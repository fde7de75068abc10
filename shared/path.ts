import { storeLimits } from "./limits.ts";

/**
 * The grammar of a path inside a scope: segments of `[A-Za-z0-9_-][A-Za-z0-9._-]*`, joined by `/`.
 *
 * A string that fits holds no `.` or `..` segment, no empty one, no separator of any other system, no control
 * character and nothing outside ASCII, so it can be handed to a store without a look at any disk.
 */
const segment = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

export function isScopePath(path: string): boolean {
  if (path.length === 0 || path.length > storeLimits.pathCharsMax) return false;
  return path.split("/").every((part) => segment.test(part));
}

/** The grammar of the `prefix` of a listing: a path that may end anywhere, also behind a `/`. */
export function isScopePrefix(prefix: string): boolean {
  if (prefix === "") return true;
  return isScopePath(prefix.endsWith("/") ? prefix.slice(0, -1) : prefix);
}

/** The folders that lead to a path inside its scope, the outermost first. */
export function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

/** The grammar of a scope's name, which is also its folder's name beside the host's own `.memcell`. */
export const scopeName: RegExp = /^[a-z][a-z0-9-]{0,31}$/;

/** Where `store_trash` puts files. Tools may read it and never write it, in whatever case they spell it. */
export const trashFolder = "trash";

export function isTrashPath(path: string): boolean {
  const folder = path.slice(0, trashFolder.length + 1).toLowerCase();
  return folder === trashFolder || folder === `${trashFolder}/`;
}

const trashedPattern = /^trash\/(.+)\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:-\d+)?(\.[^./]+)?$/;

/** Where a trashed file lay, and since when it is in the trash; `null` for a name that no host gives. */
export function parseTrashPath(path: string): { path: string; epochMs: number } | null {
  const [, base, year, month, day, hour, minute, second, ms, ending = ""] = trashedPattern.exec(path) ?? [];
  if (base === undefined) return null;
  const time = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
  const epochMs = Date.parse(time);
  // A day that no month has would be taken for one of the next.
  if (Number.isNaN(epochMs) || new Date(epochMs).toISOString() !== time) return null;
  return { path: base + ending, epochMs };
}

/** Whether a listing with a prefix shows a file: one below `trash/` only when the prefix names it. */
export function isListed(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (!isTrashPath(path) || isTrashPath(prefix));
}
