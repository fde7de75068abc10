import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import type { CapabilityTrail } from "../../audit/collect/capability-trail.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Grant } from "../grant.ts";
import type { StagedChanges } from "./staged-changes.ts";
import type { StoredFiles } from "./stored-files.ts";

/** What the capabilities of one call work on. */
export interface GuestCall {
  readonly grant: Grant;
  readonly store: StoredFiles;
  readonly staged: StagedChanges;
  /** Where each use is written down before it is answered. */
  readonly trail: CapabilityTrail;
  /** The time, the same for the whole call. */
  readonly epochMs: number;
}

/** Refuses a scope that the grant does not hold, and a path outside the grammar, before either meets a store. */
export function checkPlace(call: GuestCall, scope: string, path: string): void {
  checkScope(call, scope);
  checkPath(path);
}

export function checkPath(path: string): void {
  if (isScopePath(path)) return;
  throw denied(`Cannot use path ${quoted(path)}: allowed are relative paths inside the scope, without "." and ".."`);
}

export function checkScope({ grant }: GuestCall, scope: string): void {
  if (grant.scopes.includes(scope)) return;
  throw denied(
    `Cannot use scope ${quoted(scope)}: this call is granted ${grant.scopes.map((each) => quoted(each)).join(", ")}`,
  );
}

export function refuseTrash(path: string): void {
  if (isTrashPath(path)) throw denied(`Cannot change ${quoted(path)}: what lies in trash/ is not a tool's to change`);
}

/** Bounds what one call may change. */
export function checkChangeCount({ staged }: GuestCall, path: string): void {
  if (staged.changeCount < storeLimits.changesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot change ${quoted(path)}: this call has changed ${staged.changeCount} files, at most ${storeLimits.changesMax} allowed`,
  );
}

export function denied(message: string): ToolError {
  return new ToolError("CAPABILITY_DENIED", message);
}
