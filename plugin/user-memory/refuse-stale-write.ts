import { ToolError } from "../kit/tool-error.ts";
import { isTimestamp } from "./canonical-form.ts";
import type { Entry, Unreadable } from "./entry-file.ts";

interface Write {
  readonly name: string;
  /** The `updated` of the entry that the writer has read. Without it, the writer changes whatever is there. */
  readonly ifUpdated?: string | undefined;
}

/**
 * Throws `VERSION_CONFLICT` if the present entry is not the one that the writer has read. A file without a time of a
 * tool always conflicts, because nothing tells two versions of it apart.
 */
export function refuseStaleWrite({ name, ifUpdated }: Write, present: Entry | Unreadable | null): void {
  if (ifUpdated === undefined || (present && "updated" in present && present.updated === ifUpdated)) return;
  throw new ToolError("VERSION_CONFLICT", `Cannot change memory entry "${name}": ${conflictOf(present, ifUpdated)}`);
}

function conflictOf(present: Entry | Unreadable | null, ifUpdated: string): string {
  const again = "read the entry again";
  if (present === null) return `no entry of this name exists, but ifUpdated is "${ifUpdated}"; ${again}`;
  if ("updated" in present && isTimestamp(present.updated))
    return `its updated is "${present.updated}", but ifUpdated is "${ifUpdated}"; ${again} before you change it`;
  const reason = "unreadable" in present ? "cannot be read" : "has no updated that a tool wrote";
  return `its file ${reason}, so any ifUpdated conflicts, and it is "${ifUpdated}"; ${again}, and leave ifUpdated out`;
}
