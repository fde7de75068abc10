import { isScopePath, trashFolder } from "../../shared/path.ts";

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
