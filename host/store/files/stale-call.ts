import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { PlannedFile } from "./commit/plan-changes.ts";
import type { ScopeFolders } from "./commit/scope-folders.ts";
import { digestOf } from "./commit/wal-record.ts";

/** Someone has changed the user's files since the call read them. The call is made again before this is reported. */
export class StaleCall extends ToolError {
  constructor() {
    super("BUSY", "Cannot change the user's files: they were being edited while the call ran");
  }
}

/** A file that someone has changed since the guest read it: its answer is not worth anything any more. */
export function refuseStale(planned: readonly PlannedFile[], seen: readonly Seen[]): void {
  const befores = new Map(planned.map(({ scope, path, before }) => [`${scope}:${path}`, before]));
  for (const { scope, path, digest } of seen) {
    const before = befores.get(`${scope}:${path}`);
    if (before !== undefined && before !== digest) throw new StaleCall();
  }
}

/** Whether someone has changed a file since the change was planned. What cannot be looked at is left to who applies it. */
export function isEdited(folders: ScopeFolders, planned: readonly PlannedFile[]): boolean {
  try {
    return planned.some(({ scope, path, before }) => digestOf(folders.read(scope, path)) !== before);
  } catch {
    return false;
  }
}
