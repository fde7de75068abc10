import { now } from "../kit/capabilities.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { isTimestamp } from "./canonical-form.ts";
import { formatEntry } from "./entry-file.ts";
import type { Entry, Unreadable } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { refuseReservedName } from "./entry-name.ts";
import { describedBy, loadIndex, saveIndex } from "./load-index.ts";
import { listEntryFiles, loadEntry, memory } from "./memory-scope.ts";
import { refuseStaleWrite } from "./refuse-stale-write.ts";
import type { UpdateUserMemoryOutput, UpsertInput } from "./schemas/update.ts";

/**
 * Creates an entry or replaces the one of the same name. A replaced entry keeps its place in the index, the time it was
 * created, and the keys that people added to its front matter. A file that cannot be read, or that a person wrote, is
 * moved to the trash first.
 */
export function upsertEntry(input: UpsertInput): Answer<UpdateUserMemoryOutput> {
  const { name, type, description, body } = input;
  refuseReservedName(name);
  const { path, entry: found } = loadEntry(name);
  refuseStaleWrite(input, found);
  if (found === null) refuseNewName(name);

  const index = loadIndex();
  const kept = whyKept(found);
  const trashed = kept === null ? null : memory.trash(path);
  const replaced = found !== null && "unreadable" in found ? null : found;

  const updated = now();
  const fields = { name, description, type, created: replaced?.created ?? updated, updated };
  memory.write(path, formatEntry(fields, body, replaced?.frontMatter));
  index.set({ name, path, description }, describedBy(replaced, name));
  const indexKept = saveIndex(index);

  const outcome = found === null ? "created" : "replaced";
  const before = kept === null ? "" : `; the previous file ${kept} and is now ${trashed}`;
  const message = `Memory entry "${name}" ${outcome}${before}${indexKept}`;
  return { message, data: { name, outcome, path, trashed }, shows: [] };
}

/** Why a replaced file goes to the trash, as a clause about it; `null` if a tool wrote it, with the time. */
function whyKept(found: Entry | Unreadable | null): string | null {
  if (found === null) return null;
  if ("unreadable" in found) return "could not be read";
  return isTimestamp(found.created) || isTimestamp(found.updated) ? null : "was written by hand";
}

/** Throws if a new name differs from another one only by case, or if there is no room for one more entry. */
function refuseNewName(name: string): void {
  const names = listEntryFiles().map((file) => file.name);
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
