/** Asks a scope's plugin, if it can inspect, which paths it does not keep and which files it makes itself. */
import { isScopePath, isTrashPath, parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { giveTurn } from "../values/turns.ts";
import type { Operation } from "./operation.ts";

export interface PathFacts {
  /** The paths that are not kept, and why. */
  readonly unfit: ReadonlyMap<string, RefusedPath>;
  /** Files that the plugin makes from the others. */
  readonly derived: ReadonlySet<string>;
}

/**
 * Paths per question. The answer has a sentence for each: with the longest paths, a fifth of what an answer may hold.
 */
const pathsAtOnce = 200;

export async function askPaths(operation: Operation, scope: string, paths: readonly string[]): Promise<PathFacts> {
  const inspector = operation.tools.forScope("inspect", scope);
  const unfit: RefusedPath[] = [];
  const derived: string[] = [];
  const live: string[] = [];
  for (const path of paths) {
    await giveTurn();
    const fault = trashFaultOf(path);
    if (fault !== null) unfit.push(fault);
    if (isScopePath(path) && !isTrashPath(path)) live.push(path);
  }
  for (let at = 0; at < live.length; at += pathsAtOnce) {
    if (inspector === null) break;
    const input = { mend: false, paths: live.slice(at, at + pathsAtOnce) };
    const told = await operation.ask("inspect", inspector, input, { isLookingOnly: true });
    // The host decides about the trash, not the plugin.
    unfit.push(...(told.unfit ?? []).filter(({ path }) => !isTrashPath(path)));
    derived.push(...(told.derived ?? []));
  }
  return { unfit: new Map(unfit.map((fault) => [fault.path, fault])), derived: new Set(derived) };
}

/** Why the trash cannot keep a file, whatever the plugin says; `null` if it can, or if the path is not in the trash. */
function trashFaultOf(path: string): RefusedPath | null {
  if (!isScopePath(path) || !isTrashPath(path)) return null;
  const inTrash = path.slice(trashFolder.length + 1);
  if (!path.startsWith(`${trashFolder}/`)) {
    return { path, code: "INPUT_INVALID", reason: `its name is that of the folder ${trashFolder}/` };
  }
  if (!isTrashPath(inTrash) && !isTrashPath(parseTrashPath(path)?.path ?? "")) return null;
  return { path, code: "INPUT_INVALID", reason: "its former place is in the trash, so nothing could put it back" };
}
