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
import { entryPath, indexPath } from "./entry-name.ts";
import { asIndexDescription, describedByText, hasWords } from "./index-description.ts";
import type { IndexFile } from "./index-file.ts";
import { inOrderOfCreation, loadIndex, saveIndex } from "./load-index.ts";
import { isOther, readableText, withoutNulInFront } from "./memory-findings.ts";
import type { MemoryFinding, MemoryState } from "./memory-findings.ts";
import { memory } from "./memory-scope.ts";

/** An entry that can be listed. */
interface Listed extends Pick<EntryFields, "name" | "description"> {
  readonly created: string;
}

/** `changed`: the names of entries that the owner has just put there, or taken away: their lines are made anew. */
export function mendMemory(
  state: MemoryState,
  findings: readonly MemoryFinding[],
  changed: ReadonlySet<string> = new Set(),
): void {
  if (findings.length === 0 && changed.size === 0) return;
  const mended = findings
    .filter(({ problem }) => problem === "entry-unreadable" || problem === "entry-incomplete")
    .map(({ path }) => path.slice(0, -".md".length))
    .map((name) => [name, mendEntry(name)] as const);
  const followsFiles = findings.some(({ problem }) => problem === "line-differs");
  mendIndex(state, { mended: new Map(mended), changed, followsFiles });
}

/**
 * Completes front matter that can be parsed; any other text becomes the body of an entry. Returns what is listed, or
 * `null` if the file is not text and has gone to the trash.
 */
function mendEntry(name: string): Listed | null {
  const path = entryPath(name);
  const found = readableText(name);
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
  return { ...fields, created };
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
function listable({ entries }: MemoryState, mended: ReadonlyMap<string, Listed | null>): Listed[] {
  const all = Array.from(entries, ([name, entry]): Listed | null => {
    if (mended.has(name)) return mended.get(name) ?? null;
    if (entry === null) return null;
    const created = "unreadable" in entry ? null : entry.created;
    return { name, description: asIndexDescription(entry.description ?? "", name), created: created ?? "" };
  });
  return inOrderOfCreation(all.filter((each) => each !== null));
}

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
  const surplus = index.names.filter((name) => !entries.has(name) || mended.get(name) === null);
  const repeated = index.repeatedNames;
  const before = index.toString();
  for (const name of surplus) index.remove(name);
  for (const name of repeated) index.keepFirst(name);
  const listed = listable(state, mended);
  setLines(index, listed, changed);
  const others = listed.filter(({ name }) => {
    const entry = mended.get(name) ?? (followsFiles ? entries.get(name) : null);
    return isOther(said.get(name) ?? "", entry ?? null, name);
  });
  for (const { name, description } of others) index.set(name, description);
  const present = new Set(index.names);
  index.add(listed.filter(({ name }) => !present.has(name)));
  const isLosing =
    index.isLosing || repeated.length > 0 || others.length > 0 || surplus.some((name) => !changed.has(name));
  if (isLosing) memory.trash(indexPath);
  if (index.toString() !== before) memory.write(indexPath, index.toString());
}

/** A new line stands where it would if it had always been there: before those of entries that were created later. */
function setLines(index: IndexFile, listed: readonly Listed[], changed: ReadonlySet<string>): void {
  const created = new Map(listed.map((entry) => [entry.name, entry.created]));
  const names = changed.size === 0 ? [] : index.names;
  for (const entry of listed.filter(({ name }) => changed.has(name))) {
    const at = index.has(entry.name) ? -1 : names.findIndex((name) => (created.get(name) ?? "") > entry.created);
    const next = names[at];
    if (next === undefined) index.set(entry.name, entry.description);
    else index.setBefore(next, entry);
    if (next !== undefined) names.splice(at, 0, entry.name);
  }
}
