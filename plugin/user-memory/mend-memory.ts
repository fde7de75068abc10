/**
 * Does what the remedies of findings say, so that entries and index fit together again. Text that a person wrote is
 * never destroyed: before a file is changed or removed, it goes to the trash unchanged. So does an index that loses
 * lines, unless the owner has just taken their entries away.
 */
import { now } from "../kit/capabilities.ts";
import { splitFrontMatter } from "../kit/front-matter.ts";
import { ToolError } from "../kit/tool-error.ts";
import { formatEntry, parseEntry, typeWhenMissing } from "./entry-file.ts";
import type { EntryFields } from "./entry-file.ts";
import { indexPath } from "./entry-name.ts";
import { asIndexDescription, describedByText, hasWords } from "./index-description.ts";
import type { IndexFile, ListedEntry } from "./index-file.ts";
import { inOrderOfCreation, loadIndex, saveIndex } from "./load-index.ts";
import { createdIn, isOther, orphansIn, readableText, withoutNulInFront } from "./memory-findings.ts";
import type { MemoryFinding, MemoryState } from "./memory-findings.ts";
import { memory } from "./memory-scope.ts";

/** An entry that can be listed. */
type Listed = ListedEntry & { readonly created: string };

/** `changed`: the paths of entries that the owner has just put there, or taken away: their lines are made anew. */
export function mendMemory(
  state: MemoryState,
  findings: readonly MemoryFinding[],
  changed: ReadonlySet<string> = new Set(),
): void {
  if (findings.length === 0 && changed.size === 0) return;
  const mended = findings
    .filter(({ problem }) => problem === "entry-unreadable" || problem === "entry-incomplete")
    .map(({ path }) => [path, mendEntry(path, state.names.get(path) ?? "")] as const);
  const followsFiles = findings.some(({ problem }) => problem === "line-differs");
  mendIndex(state, { mended: new Map(mended), changed, followsFiles });
}

/**
 * Completes front matter that can be parsed; any other text becomes the body of an entry. Returns what is listed, or
 * `null` if the file is not text and has gone to the trash.
 */
function mendEntry(path: string, name: string): Listed | null {
  const found = readableText(path);
  memory.trash(path);
  if (found === null) return null;
  const text = withoutNulInFront(found.text) ?? found.text;
  const front = splitFrontMatter(text);
  const entry = parseEntry(text, name);
  const isReadable = !("unreadable" in entry);
  const given = front?.fields.get("description") ?? (isReadable ? null : entry.said);
  // Not what the index says: its line can be older than the text.
  const description =
    typeof given === "string" && hasWords(given)
      ? asIndexDescription(given, name)
      : describedByText(front?.body ?? text, name);
  const stamp = now();
  const type = isReadable ? entry.type : typeWhenMissing;
  const created = (isReadable ? entry.created : null) ?? stamp;
  const fields = { name, description, type, created, updated: stamp };
  memory.write(path, formatWithKept(fields, front?.body ?? text, front?.text));
  return { ...fields, path, created };
}

/** Without the keys that people added if the front matter would then be too large: the old file is in the trash. */
function formatWithKept(fields: EntryFields, body: string, replaced: string | undefined): string {
  try {
    return formatEntry(fields, body, replaced);
  } catch (error) {
    if (error instanceof ToolError && error.code === "QUOTA_EXCEEDED") return formatEntry(fields, body);
    throw error;
  }
}

/** Every entry that has a file, in the order that their lines have. */
function listable({ entries, names }: MemoryState, mended: ReadonlyMap<string, Listed | null>): Listed[] {
  const all = Array.from(entries, ([path, entry]): Listed | null => {
    if (mended.has(path)) return mended.get(path) ?? null;
    if (entry === null) return null;
    const name = names.get(path) ?? "";
    const created = "unreadable" in entry ? null : entry.created;
    return { name, path, description: asIndexDescription(entry.description ?? "", name), created: created ?? "" };
  });
  return inOrderOfCreation(all.filter((each) => each !== null));
}

/** By path. */
interface Mended {
  readonly mended: ReadonlyMap<string, Listed | null>;
  readonly changed: ReadonlySet<string>;
  /** Whether every line is to say what its entry's file says. */
  readonly followsFiles: boolean;
}

function mendIndex(state: MemoryState, { mended, changed, followsFiles }: Mended): void {
  const { index, isIndexUnsafe, said, entries } = state;
  if (isIndexUnsafe) return;
  if (index === null || index.damage !== null) return void saveIndex(loadIndex());
  const orphans = orphansIn(index, state).map(({ path }) => path);
  const surplus = [...orphans, ...Array.from(mended.keys()).filter((path) => mended.get(path) === null)];
  const isRepeated = index.repeated.length > 0;
  const before = index.toString();
  index.keepFirst(new Set(surplus));
  const listed = listable(state, mended);
  setLines({ ...state, index }, listed, changed);
  const others = listed.filter(({ name, path }) => {
    const entry = mended.get(path) ?? (followsFiles ? entries.get(path) : null);
    return isOther(said.get(path) ?? "", entry ?? null, name);
  });
  for (const entry of others) index.set(entry);
  index.add(listed.filter(({ path }) => !said.has(path) && !changed.has(path)));
  const isLosing = index.isLosing || isRepeated || others.length > 0 || surplus.some((path) => !changed.has(path));
  if (isLosing) memory.trash(indexPath);
  if (index.toString() !== before) memory.write(indexPath, index.toString());
}

/** A new line stands where it would if it had always been there: before those of entries that were created later. */
function setLines(
  state: MemoryState & { readonly index: IndexFile },
  listed: readonly Listed[],
  changed: ReadonlySet<string>,
): void {
  const { index } = state;
  const created = new Map(listed.map((entry) => [entry.path, entry.created]));
  /** Most changes give no entry a new line, and only that needs the other files. */
  const createdAt = (path: string): string => {
    const known = created.get(path) ?? createdIn(state, path);
    created.set(path, known);
    return known;
  };
  const paths = changed.size === 0 ? [] : [...index.listed.keys()];
  for (const entry of listed.filter(({ path }) => changed.has(path))) {
    const at = index.has(entry.path) ? -1 : paths.findIndex((path) => createdAt(path) > entry.created);
    const next = paths[at];
    if (next === undefined) index.set(entry);
    else index.setBefore(next, entry);
    if (next !== undefined) paths.splice(at, 0, entry.path);
  }
}
