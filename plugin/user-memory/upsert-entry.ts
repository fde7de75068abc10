import { now } from "../capabilities.ts";
import type { Answer } from "../serve-tool.ts";
import { ToolError } from "../tool-error.ts";
import { formatEntry } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryPath, indexPath, refuseReservedName } from "./entry-name.ts";
import { listEntryNames, loadEntry, loadIndex, memory } from "./memory-scope.ts";
import type { UpdateUserMemoryOutput, UpsertInput } from "./schemas/update.ts";

/**
 * Creates an entry or replaces the one of the same name. A replaced entry keeps its place in the index, the time it was
 * created, and the keys that people added to its front matter. A file that cannot be read is moved to the trash first.
 */
export function upsertEntry(input: UpsertInput): Answer<UpdateUserMemoryOutput> {
  const { name, type, description, body } = input;
  refuseReservedName(name);
  const found = loadEntry(name);
  if (found === null) refuseNewName(name);

  const index = loadIndex();
  const path = entryPath(name);
  const isUnreadable = found !== null && "unreadable" in found;
  const replaced = isUnreadable ? null : found;
  const trashed = isUnreadable ? memory.trash(path) : null;

  const updated = now();
  const fields = { name, description, type, created: replaced?.created ?? updated, updated };
  memory.write(path, formatEntry(fields, body, replaced?.frontMatter));
  index.set(name, description);
  memory.write(indexPath, index.toString());

  const outcome = found === null ? "created" : "replaced";
  return { message: upsertMessage(name, outcome, trashed), data: { name, outcome, path, trashed } };
}

/** Throws if a new name differs from another one only by case, or if there is no room for one more entry. */
function refuseNewName(name: string): void {
  const names = listEntryNames();
  const folded = name.toLowerCase();
  const other = names.find((each) => each.toLowerCase() === folded);
  if (other !== undefined) {
    throw new ToolError(
      "NAME_CONFLICT",
      `Cannot write memory entry "${name}": "${other}" exists, and names must differ by more than case`,
    );
  }
  if (names.length >= entryLimits.entriesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot create memory entry "${name}": ${names.length} entries exist, at most ${entryLimits.entriesMax} allowed`,
    );
  }
}

function upsertMessage(name: string, outcome: string, trashed: string | null): string {
  const before = trashed === null ? "" : `; the previous file could not be read and is now ${trashed}`;
  return `Memory entry "${name}" ${outcome}${before}`;
}
