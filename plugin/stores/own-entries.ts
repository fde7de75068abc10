/** The entries of the caller's own store for programs that show them: the roles `entries` and `read`. */
import type { EntriesOutput, ReadInput } from "../../shared/roles.ts";
import { withinAnswer } from "../kit/entry-list.ts";
import { meantBy, shown } from "../kit/hidden-text.ts";
import { oneLine } from "../kit/one-line.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { ownStore } from "./entry-store.ts";
import type { FoundEntry } from "./entry-store.ts";
import { forModels } from "./key-path.ts";
import { entryLimits } from "./store-limits.ts";
import { unreadable } from "./unreadable.ts";

const descriptionCharsMax = 200;

export function listOwnEntries(): Answer<EntriesOutput> {
  const store = ownStore();
  const found = store.shownBelow(
    "",
    (entry) =>
      entry.owner === store.id && {
        name: shown(entry.key),
        description: lineOf(entry),
        path: entry.path,
      },
  );
  const unread = store.unreadable
    .filter(({ owner }) => owner === store.id)
    .map(({ key, reason, path }) => ({
      name: shown(key),
      description: oneLine(`(cannot be read: ${reason})`, descriptionCharsMax, key),
      path,
    }));
  const described = [...found.filter((each) => each !== false), ...unread].slice(0, entryLimits.entriesMax);
  const entries = withinAnswer(described, descriptionCharsMax);
  return { message: `${entries.length} entries`, data: { entries } };
}

const lineOf = ({ key, encrypted, value }: FoundEntry): string =>
  encrypted ? "(encrypted)" : oneLine(value.content, descriptionCharsMax, key);

/** The value as text. An encrypted one is shown as it is stored. */
export function readOwnEntry({ name }: ReadInput): Answer<{ readonly body: string }> {
  const store = ownStore();
  const at = (key: string): FoundEntry | null => store.find(forModels(store.id, key));
  const meant = meantBy(name);
  const entry = at(name) ?? (meant === null ? null : at(meant));
  const fault = entry === null ? store.faultAt(meant ?? name) : null;
  if (fault !== null) throw unreadable("read", name, fault);
  if (entry === null) throw new ToolError("ENTRY_NOT_FOUND", `Memory not found: ${name}`);
  return { message: `Entry "${name}"`, data: { body: entry.value.content } };
}
