/** Which paths of a scope its plugin keeps files under: asked of the plugin, where it can be asked. */
import { isScopePath, isTrashPath, trashFolder } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";

export type PathFault = Omit<RefusedPath, "path">;

export interface PathFacts {
  /** Why nothing is kept under a path. */
  readonly unfit: ReadonlyMap<string, PathFault>;
  /** Files that the plugin makes from the others. */
  readonly derived: ReadonlySet<string>;
}

/** Of the longest, a tenth of what a call may bring. */
const pathsAtOnce = 200;

export async function askPaths(operation: Operation, scope: string, paths: readonly string[]): Promise<PathFacts> {
  const inspector = operation.tools.forScope("inspect", scope);
  const unfit = new Map<string, PathFault>();
  const derived = new Set<string>();
  if (inspector === null) return { unfit, derived };
  const live = paths.filter((path) => faultOfPath(path) === null && !isTrashPath(path));
  for (let at = 0; at < live.length; at += pathsAtOnce) {
    const asked = live.slice(at, at + pathsAtOnce);
    const told = await operation.ask("inspect", inspector, { mend: false, paths: asked }, { isLookingOnly: true });
    for (const { path, code, reason } of told.unfit ?? []) unfit.set(path, { code, reason });
    for (const path of told.derived ?? []) derived.add(path);
  }
  return { unfit, derived };
}

/** The same for an export, which a plugin that cannot answer does not keep from anybody. */
export async function askPathsOrTakeAll(
  operation: Operation,
  scope: string,
  paths: readonly string[],
): Promise<PathFacts> {
  try {
    return await askPaths(operation, scope, paths);
  } catch (error) {
    if (error instanceof ToolError && error.blame === "guest") return { unfit: new Map(), derived: new Set() };
    throw error;
  }
}

/** Why nobody keeps anything under a path, whatever the plugin; `null` when a plugin may. */
export function faultOfPath(path: string): PathFault | null {
  if (!isScopePath(path)) return { code: "INPUT_INVALID", reason: "it is no path inside a scope" };
  if (!isTrashPath(path) || path.startsWith(`${trashFolder}/`)) return null;
  return { code: "INPUT_INVALID", reason: `its name is that of the folder ${trashFolder}/` };
}
