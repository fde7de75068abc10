import { isScopePath, trashFolder } from "../shared/path.ts";

/**
 * A path below `trash/` that nothing has: `trash/<path without ending>.<UTC stamp><ending>`, with a number before the
 * ending while that is taken.
 */
export function freeTrashPath(path: string, epochMs: number, isTaken: (path: string) => boolean): string {
  const stamp = new Date(epochMs).toISOString().replaceAll(/[-:.]/g, "");
  const slash = path.lastIndexOf("/");
  const dot = path.lastIndexOf(".");
  const hasEnding = dot > slash + 1;
  const base = hasEnding ? path.slice(0, dot) : path;
  const ending = hasEnding ? path.slice(dot) : "";
  for (let count = 1; ; count++) {
    const candidate = `${trashFolder}/${base}.${stamp}${count === 1 ? "" : `-${count}`}${ending}`;
    if (!isScopePath(candidate) || !isTaken(candidate)) return candidate;
  }
}

const trashedPattern = /^trash\/(.+)\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:-\d+)?(\.[^./]+)?$/;

/** Where a trashed file lay, and since when it is in the trash; `null` for a name that no store gave. */
export function parseTrashPath(path: string): { path: string; epochMs: number } | null {
  const [, base, year, month, day, hour, minute, second, ms, ending = ""] = trashedPattern.exec(path) ?? [];
  if (base === undefined) return null;
  const epochMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(epochMs) ? null : { path: base + ending, epochMs };
}
