/** Which paths of a scope nothing is kept under, and which files its plugin makes itself: asked of the plugin, if it can be asked. */
import { isScopePath, isTrashPath, parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import type { Operation } from "./operation.ts";

export interface PathFacts {
  /** Why nothing is kept under a path. */
  readonly unfit: ReadonlyMap<string, RefusedPath>;
  /** Files that the plugin makes from the others. */
  readonly derived: ReadonlySet<string>;
}

/** The answer has a sentence for each: of the longest paths, a fifth of what an answer may hold. */
const pathsAtOnce = 200;

export async function askPaths(operation: Operation, scope: string, paths: readonly string[]): Promise<PathFacts> {
  const inspector = operation.tools.forScope("inspect", scope);
  const unfit = paths.flatMap((path) => trashFaultOf(path) ?? []);
  const derived: string[] = [];
  const live = paths.filter((path) => isScopePath(path) && !isTrashPath(path));
  for (let at = 0; at < live.length; at += pathsAtOnce) {
    if (inspector === null) break;
    const input = { mend: false, paths: live.slice(at, at + pathsAtOnce) };
    const told = await operation.ask("inspect", inspector, input, { isLookingOnly: true });
    // What is in the trash is the host's.
    unfit.push(...(told.unfit ?? []).filter(({ path }) => !isTrashPath(path)));
    derived.push(...(told.derived ?? []));
  }
  return { unfit: new Map(unfit.map((fault) => [fault.path, fault])), derived: new Set(derived) };
}

/** Why no trash keeps a file, whatever the plugin; `null` when it may, or when the path is none of the trash. */
function trashFaultOf(path: string): RefusedPath | null {
  if (!isScopePath(path) || !isTrashPath(path)) return null;
  const inTrash = path.slice(trashFolder.length + 1);
  if (!path.startsWith(`${trashFolder}/`)) {
    return { path, code: "INPUT_INVALID", reason: `its name is that of the folder ${trashFolder}/` };
  }
  if (!isTrashPath(inTrash) && !isTrashPath(parseTrashPath(path)?.path ?? "")) return null;
  return { path, code: "INPUT_INVALID", reason: "its former place is in the trash, so nothing could put it back" };
}
