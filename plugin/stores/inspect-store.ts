/**
 * Reports what is wrong with the entries of the caller's own store, and mends what can be: expired entries go to the
 * trash, an entry that an import has brought from another owner's store becomes the caller's, and the search index gets
 * what people have written.
 */
import type { ListedFile } from "../../shared/abi.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { exceedsUtf8Bytes, utf8Bytes } from "../../shared/text.ts";
import { hiddenFault, hiddenLineFault } from "../kit/hidden-text.ts";
import { answerInspection, answerPaths } from "../kit/inspection.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { mostOf } from "./entry-counts.ts";
import type { Entry } from "./entry-file.ts";
import { isDerivedPath, isKept, ownStore } from "./entry-store.ts";
import type { EntryStore } from "./entry-store.ts";
import { entryKinds, isForModels } from "./key-path.ts";
import type { EntryKind } from "./key-path.ts";
import { filesOfKind, indexFolder } from "./store-index.ts";
import { entryLimits } from "./store-limits.ts";

const { itemsInspectedMax, valueBytesMax } = entryLimits;

export function inspectStore({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  const store = ownStore();
  if (paths)
    return answerPaths(paths.filter((path) => !isKept(path, store.id)).map(unfit), paths.filter(isDerivedPath));
  const full = entryKinds
    .map((kind) => ({ kind, count: filesOfKind(store.files, store.id, kind).length }))
    .find(({ kind, count }) => count > mostOf(kind));
  const isTooMany = incoming !== undefined && full !== undefined;
  const stray = store.strayPaths.map((path) => finding("file-unused", path, `${isUnused}, so no tool reads it`));
  const found = isTooMany ? [] : [...inspectedFiles(store).flatMap((file) => findingAt(store, file) ?? []), ...stray];
  if (!incoming) found.push(...unindexedIn(store));
  const together = isTooMany ? [tooMany(full.kind, full.count)] : [];
  const answer = answerInspection({ mend, incoming }, { found, codes, together });
  if (mend) {
    for (const { path, problem } of found) mendAt(store, path, problem);
    store.saveWholeIndex();
  }
  return answer;
}

/** All entries, and the items that were changed last: a call cannot read more, and tools write no damaged ones. */
function inspectedFiles(store: EntryStore): ListedFile[] {
  const items = filesOfKind(store.files, store.id, "items");
  if (items.length <= itemsInspectedMax) return [...store.files];
  const oldestFirst = items.toSorted((one, other) => (one.changedUs ?? 0) - (other.changedUs ?? 0));
  const left = new Set(oldestFirst.slice(0, -itemsInspectedMax));
  return store.files.filter((file) => !left.has(file));
}

const codes: Readonly<Record<string, RefusedPath["code"]>> = {
  "entry-unreadable": "ENTRY_UNREADABLE",
  "entry-too-large": "QUOTA_EXCEEDED",
};

function findingAt(store: EntryStore, { path, bytes }: ListedFile): InspectFinding | null {
  const entry = store.readAny(path);
  if (entry === null) return null;
  if ("unreadable" in entry) {
    if (entry.foreign) return finding("entry-of-another", path, "its owner is not the store's", "make it the store's");
    return finding("entry-unreadable", path, entry.unreadable);
  }
  const { expires, value } = entry;
  if (expires !== null && expires <= store.now) {
    return finding("entry-expired", path, `it has expired at ${expires}`, "move it to the trash");
  }
  // To count the bytes of a large value takes the engine long.
  if (bytes <= valueBytesMax || !exceedsUtf8Bytes(value.content, valueBytesMax)) return hiddenAt(entry, path);
  const size = `its value is ${utf8Bytes(value.content)} bytes, at most ${valueBytesMax} allowed`;
  return finding("entry-too-large", path, size);
}

/** Only of what models see: programs can keep any text. */
function hiddenAt(entry: Entry, path: string): InspectFinding | null {
  if (entry.encrypted || !isForModels(entry)) return null;
  const fault = hiddenLineFault("its key", entry.key) ?? hiddenFault("its value", entry.value.content);
  return fault === null ? null : finding("hidden-character", path, fault);
}

function unindexedIn(store: EntryStore): InspectFinding[] {
  const { isSlow, count } = store.unindexed;
  const message = `it lacks ${count} entries, so each search reads them`;
  return isSlow ? [finding("search-index-behind", indexFolder, message, "index them")] : [];
}

const finding = (problem: string, path: string, message: string, remedy: string | null = null): InspectFinding => ({
  problem,
  path,
  message,
  remedy,
});

function mendAt(store: EntryStore, path: string, problem: string): void {
  if (problem === "entry-expired") store.trash({ path });
  const entry = problem === "entry-of-another" ? store.readAny(path) : null;
  if (entry === null || !("unreadable" in entry) || !entry.foreign) return;
  store.put(path, { ...entry.foreign, owner: store.id }, entry.foreign.frontMatter);
}

const isUnused = "no entry of a store has this path";

const unfit = (path: string): RefusedPath => ({ path, code: "INPUT_INVALID", reason: isUnused });

const tooMany = (kind: EntryKind, present: number): RefusedPath => ({
  path: "",
  code: "QUOTA_EXCEEDED",
  reason: `the store would have ${present} ${nouns[kind]}, at most ${mostOf(kind)} allowed`,
});

const nouns: Readonly<Record<EntryKind, string>> = {
  models: "entries for models",
  programs: "entries of programs",
  items: "items",
};
