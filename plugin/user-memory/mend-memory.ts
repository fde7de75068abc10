/**
 * Does what the remedies of findings say, so that entries and index fit together again. Text that a person wrote is
 * never destroyed: before a file is changed or removed, it goes to the trash unchanged. So does an index that loses
 * lines.
 */
import { utf8Bytes } from "../../shared/text.ts";
import { now } from "../capabilities.ts";
import { splitFrontMatter } from "../front-matter.ts";
import { ToolError } from "../tool-error.ts";
import { formatEntry } from "./entry-file.ts";
import type { EntryFields } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryPath, indexPath } from "./entry-name.ts";
import { entryTypes } from "./entry-types.ts";
import type { EntryType } from "./entry-types.ts";
import { readText } from "./memory-findings.ts";
import type { MemoryFinding, MemoryState } from "./memory-findings.ts";
import { asIndexDescription, loadIndex, memory } from "./memory-scope.ts";

/** The type of an entry whose front matter has no valid type. */
const typeWhenUnknown: EntryType = "reference";

export function mendMemory(state: MemoryState, findings: readonly MemoryFinding[]): void {
  if (findings.length === 0) return;
  const mended = findings
    .filter(({ problem }) => problem === "entry-unreadable")
    .map(({ path }) => path.slice(0, -".md".length))
    .map((name) => ({ name, description: mendEntry(state, name) }));
  const gone = mended.filter(({ description }) => description === null).map(({ name }) => name);
  mendIndex(state, descriptionsAfter(state, mended), gone);
}

/**
 * Completes front matter that can be parsed; any other text becomes the body of an entry. Returns the entry's
 * description, or `null` if the file is not text or is too large and has gone to the trash.
 */
function mendEntry({ index }: MemoryState, name: string): string | null {
  const path = entryPath(name);
  const text = readText(name);
  memory.trash(path);
  if (text === null || utf8Bytes(text) > entryLimits.bodyBytesMax) return null;
  const front = splitFrontMatter(text);
  const body = front?.body ?? text;
  const known = front?.fields.get("description") ?? index?.descriptionOf(name) ?? firstLineOf(body);
  const description = asIndexDescription(typeof known === "string" ? known : "", name);
  const created = front?.fields.get("created");
  const stamp = now();
  const type = entryTypes.find((each) => each === front?.fields.get("type")) ?? typeWhenUnknown;
  const fields = { name, description, type, created: typeof created === "string" ? created : stamp };
  memory.write(path, formatWithKept({ ...fields, updated: stamp }, body, front?.text));
  return description;
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

type Mended = readonly { readonly name: string; readonly description: string | null }[];

/** By name, the description of each entry that can be listed. */
function descriptionsAfter({ entries }: MemoryState, mended: Mended): Map<string, string> {
  const described = new Map<string, string>();
  for (const [name, entry] of entries) {
    const description =
      mended.find((each) => each.name === name)?.description ??
      (entry && !("unreadable" in entry) ? entry.description : null);
    if (description !== null) described.set(name, asIndexDescription(description, name));
  }
  return described;
}

function firstLineOf(body: string): string {
  return body.split("\n").find((line) => line.trim() !== "") ?? "";
}

function mendIndex(state: MemoryState, described: ReadonlyMap<string, string>, gone: readonly string[]): void {
  const { index, indexKind, entries } = state;
  if (indexKind === "unsafe") return;
  if (indexKind === "unreadable") memory.trash(indexPath);
  if (index === null) return memory.write(indexPath, loadIndex().toString());
  const surplus = index.names.filter((name) => !entries.has(name) || gone.includes(name));
  const repeated = index.repeatedNames;
  const before = index.toString();
  for (const name of surplus) index.remove(name);
  for (const name of repeated) index.keepFirst(name);
  for (const [name, description] of described) if (!index.has(name)) index.set(name, description);
  if (surplus.length + repeated.length > 0) memory.trash(indexPath);
  if (index.toString() !== before) memory.write(indexPath, index.toString());
}
