/** An entry's file: five fields in front matter, whatever keys people added by hand, then the body. */
import { formatCanonicalLines, readCanonicalFile } from "./canonical-form.ts";
import { formatFields, joinFrontMatter, parseFields, splitFrontMatter } from "./front-matter.ts";
import { entryTypes } from "./schemas/fields.ts";
import type { EntryType } from "./schemas/fields.ts";

export interface Entry {
  readonly description: string;
  readonly type: EntryType;
  /** UTC, ISO 8601. `null` in a file that a person wrote without it. */
  readonly created: string | null;
  readonly updated: string | null;
  readonly body: string;
  /** The front matter as it stands in the file; `null` when it is in our own form, and so holds no keys to keep. */
  readonly frontMatter: string | null;
}

/** Reads a file, or says in a few words why it is no entry. */
export function parseEntry(file: string): Entry | { unreadable: string } {
  return parseCanonicalEntry(file) ?? parseAnyEntry(file);
}

function parseCanonicalEntry(file: string): Entry | null {
  const found = readCanonicalFile(file);
  const type = found && typeOf(found.type);
  if (!type) return null;
  const { description, created, updated, body } = found;
  return { description, type, created, updated, body, frontMatter: null };
}

/** A file that people or other programs wrote, in whatever YAML. */
function parseAnyEntry(file: string): Entry | { unreadable: string } {
  const front = splitFrontMatter(file);
  if (!front) return { unreadable: 'it does not begin with YAML front matter between "---" lines' };
  const text = (key: string): string | null => {
    const value = front.fields.get(key);
    return typeof value === "string" ? value : null;
  };
  const description = text("description");
  if (description === null) return { unreadable: "its front matter has no description" };
  const type = typeOf(text("type"));
  if (!type) return { unreadable: `its front matter's type is not one of ${entryTypes.join(", ")}` };
  return {
    description,
    type,
    created: text("created"),
    updated: text("updated"),
    body: front.body,
    frontMatter: front.text,
  };
}

const typeOf = (text: string | null): EntryType | undefined => entryTypes.find((each) => each === text);

export interface EntryFields {
  readonly name: string;
  readonly description: string;
  readonly type: EntryType;
  readonly created: string;
  readonly updated: string;
}

const ownKeys: readonly string[] = ["name", "description", "type", "created", "updated"];

/** Writes an entry. With the front matter that is replaced, keys that people added to it survive. */
export function formatEntry(fields: EntryFields, body: string, replaced: string | null = null): string {
  const { name, description, type, created, updated } = fields;
  const pairs = Object.entries({ name, description, type, created, updated });
  const own = formatCanonicalLines(pairs) ?? formatFields(pairs);
  return joinFrontMatter(replaced === null ? own : own + foreignLines(own, replaced), body);
}

/**
 * The lines of the keys that are not ours, as they stand, comments included. Taken by line and then checked with the
 * parser: if the result does not mean what it should (keys in braces, say), the keys are written anew instead.
 */
function foreignLines(own: string, replaced: string): string {
  const foreign = withoutOwnKeys(parseFields(replaced) ?? new Map());
  const kept = linesWithoutOwnKeys(replaced);
  const written = parseFields(own + kept);
  if (written !== null && sameMeaning(withoutOwnKeys(written), foreign)) return kept;
  return foreign.size === 0 ? "" : formatFields(foreign);
}

function withoutOwnKeys(fields: ReadonlyMap<string, unknown>): Map<string, unknown> {
  return new Map([...fields].filter(([key]) => !ownKeys.includes(key)));
}

/** Compared as YAML, which writes a value that occurs again as an alias: aliases may nest without end. */
function sameMeaning(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && formatFields(a) === formatFields(b);
}

const startsKey = /^[^\s#-]/;
const startsOwnKey = new RegExp(`^(["']?)(?:${ownKeys.join("|")})\\1[ \\t]*:`);

function linesWithoutOwnKeys(text: string): string {
  let isOwn = false;
  const kept = text.split("\n").filter((line) => {
    if (startsKey.test(line)) isOwn = startsOwnKey.test(line);
    return !isOwn || line.startsWith("#");
  });
  const lines = kept.join("\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}
