import { isScopePath, trashFolder } from "../../shared/path.ts";

/** Returns the first free path of `trashPaths`. If it is too long, it is not a valid path of a scope. */
export function freeTrashPath(path: string, epochMs: number, isTaken: (path: string) => boolean): string {
  for (const candidate of trashPaths(path, epochMs)) {
    if (!isScopePath(candidate) || !isTaken(candidate)) return candidate;
  }
  throw new RangeError("The names of a trashed file have ended");
}

/** Yields `trash/<path without ending>.<UTC stamp><ending>`, then endlessly others with a number before the ending. */
export function* trashPaths(path: string, epochMs: number): Generator<string> {
  const stamp = new Date(epochMs).toISOString().replaceAll(/[-:.]/g, "");
  const slash = path.lastIndexOf("/");
  const dot = path.lastIndexOf(".");
  const hasEnding = dot > slash + 1;
  const base = hasEnding ? path.slice(0, dot) : path;
  const ending = hasEnding ? path.slice(dot) : "";
  for (let count = 1; ; count++) {
    yield `${trashFolder}/${base}.${stamp}${count === 1 ? "" : `-${count}`}${ending}`;
  }
}
