/** The commands that change entries: `create`, `edit`, `delete` and `rename`. */
import { trashedNote } from "../kit/file-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { addressedEntry, ownEntry } from "./addressed.ts";
import type { Addressed } from "./addressed.ts";
import { formatEntry } from "./entry-file.ts";
import type { FoundEntry } from "./entry-store.ts";
import { forModels } from "./key-path.ts";
import { refuseHiddenKey } from "./memory-path.ts";
import { eitherOf, required } from "./required.ts";
import type { CreateInput, EditInput, PathInput, RenameInput } from "./schemas.ts";
import { checkValue, refuseHidden, typeOfValue, valueFrom } from "./value.ts";

/** What these commands return. */
export type Changed = Record<string, never>;

/** `shows`: places of entries of which the message has any part. */
export const done = (message: string, shows: readonly string[]): Answer<Changed> => ({ message, data: {}, shows });

/** Creates an entry, or replaces the caller's own with all its flags. */
export function createEntry({ path, content, ttl, file_text }: CreateInput): Answer<Changed> {
  const place = addressedEntry(required(path, "path", "path is required for create"), "create");
  refuseHiddenKey(place.key);
  const { at, key, self } = place;
  const value = valueFrom(required(eitherOf({ content, file_text }), "content", "content is required for create"));
  refuseHidden("content", value.content);
  const replaced = at.visibleOf(self, key);
  const entry = { ...forModels(self, key), encrypted: false, value };
  const trashed = at.write({ ...entry, ...at.times(replaced, ttl) }, replaced);
  at.saveIndex();
  return done(`Created ${place.shown}${trashedNote(trashed)}`, []);
}

/** Replaces one piece of a text. The piece is literal, and must be there once. */
export function editEntry({ path, old_str: old, new_str: replacement }: EditInput): Answer<Changed> {
  const place = addressedEntry(required(path, "path", "path is required for edit"), "edit");
  const missing = "old_str and new_str are required for edit";
  const [from, to] = [required(old, "old_str", missing), required(replacement, "new_str", missing)];
  if (from === "") throw new ToolError("INPUT_INVALID", "old_str is empty, allowed: text that is in the entry");
  refuseHidden("new_str", to);
  const entry = ownEntry(place, "edit");
  refuseOpaque(entry, place.shown);
  const { content } = entry.value;
  const at = onlyMatch(content, from, place.shown);
  const value = { format: "text", content: content.slice(0, at) + to + content.slice(at + from.length) } as const;
  checkValue(value);
  place.at.write({ ...entry, value, updated: place.at.now }, entry);
  place.at.saveIndex();
  return done(`Edited ${place.shown}\n${diffOf(content, at, { from, to })}`, [place.at.place(entry.path)]);
}

function refuseOpaque(entry: FoundEntry, shown: string): void {
  const because = (reason: string): ToolError =>
    new ToolError("VALUE_NOT_TEXT", `Cannot edit ${shown}: value is ${reason}. Use create to replace the whole value.`);
  if (entry.encrypted) throw because("encrypted");
  if (entry.value.format === "json") throw because(`${typeOfValue(entry.value)}, not text`);
}

/** Throws unless the piece is there exactly once. */
function onlyMatch(content: string, piece: string, shown: string): number {
  const parts = content.split(piece);
  if (parts.length === 1) throw new ToolError("MATCH_NOT_FOUND", `old_str not found in ${shown}`);
  if (parts.length === 2) return parts[0]?.length ?? 0;
  const hint = "Include more of the text around it, so that it matches once.";
  throw new ToolError("MATCH_NOT_UNIQUE", `old_str matches ${parts.length - 1} times in ${shown}. ${hint}`);
}

const contextChars = 40;

function diffOf(content: string, at: number, { from, to }: { readonly from: string; readonly to: string }): string {
  const before = content.slice(Math.max(0, at - contextChars), at).toWellFormed();
  const after = content.slice(at + from.length, at + from.length + contextChars).toWellFormed();
  return `  - …${before}[${from}]${after}…\n  + …${before}[${to}]${after}…`;
}

/** Moves the caller's own entry to the trash. */
export function deleteEntry({ path }: PathInput): Answer<Changed> {
  const place = addressedEntry(required(path, "path", "path is required for delete"), "delete");
  place.at.trash(ownEntry(place, "delete"));
  place.at.saveIndex();
  return done(`Deleted ${place.shown}`, []);
}

/** Moves the caller's own entry, with its times and flags, also to another store: there it is written first. */
export function renameEntry({ path, new_str, old_path, new_path }: RenameInput): Answer<Changed> {
  const missing = "path and new_str (new path) are required for rename";
  const from = addressedEntry(required(eitherOf({ path, old_path }), "path", missing), "rename");
  const named = addressedEntry(required(eitherOf({ new_str, new_path }), "new_str", missing), "rename");
  refuseHiddenKey(named.key);
  // One object for one store, which knows all changes of the call.
  const to = named.at.id === from.at.id ? { ...named, at: from.at } : named;
  if (from.at.id === to.at.id && from.key === to.key) {
    throw new ToolError("NAME_CONFLICT", `Cannot rename ${from.shown}: the new path is the same`);
  }
  const entry = ownEntry(from, "rename");
  const write = (): unknown => to.at.write({ ...entry, key: to.key, updated: to.at.now }, null);
  if (to.at === from.at) {
    refuseTaken(to);
    // Before it is written again: a full store has no room for both.
    from.at.trash(entry);
    write();
  } else {
    // Stores are committed in the order in which they are changed: should only the first be, the entry is in both.
    if (!isCopyAt(to, entry)) {
      refuseTaken(to);
      write();
    }
    from.at.trash(entry);
  }
  for (const store of new Set([to.at, from.at])) store.saveIndex();
  return done(`Renamed ${from.shown} → ${to.shown}`, []);
}

/** Whether an earlier rename has written the entry there already, and was interrupted. */
function isCopyAt({ at, key, self }: Addressed, entry: FoundEntry): boolean {
  const there = at.visibleOf(self, key);
  const fileOf = (each: FoundEntry): string => formatEntry({ ...each, key, updated: null }, each.frontMatter);
  return there !== null && fileOf(there) === fileOf(entry);
}

function refuseTaken({ at, key, self, shown }: Addressed): void {
  if (!at.visible(key).some(({ owner }) => owner === self)) return;
  throw new ToolError(
    "NAME_CONFLICT",
    `Cannot rename to ${shown}: it exists. Delete it first, or choose another path.`,
  );
}
