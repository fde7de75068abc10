/** An entry's file: five fields in front matter, any keys that people added by hand, then the body. */
import { utf8Bytes } from "../../shared/text.ts";
import { formatFields, joinFrontMatter, splitFrontMatter, whyNoFrontMatter } from "../front-matter.ts";
import { keptLines } from "../kept-lines.ts";
import { formatCanonicalLines, readCanonicalFile } from "./canonical-form.ts";
import { entryTypes } from "./entry-types.ts";
import type { EntryType } from "./entry-types.ts";

export interface Entry {
  readonly description: string;
  readonly type: EntryType;
  /** UTC, ISO 8601. `null` if a person wrote the file without it. */
  readonly created: string | null;
  readonly updated: string | null;
  readonly body: string;
  /** The bytes of the file before the body: to count those of a large body takes the engine long. */
  readonly headBytes: number;
  /** The front matter as it is in the file; `null` for the canonical form, which has no other keys to keep. */
  readonly frontMatter: string | null;
}

/** Parses a file. If it is not an entry, returns the reason as a clause about "it". */
export function parseEntry(file: string): Entry | { unreadable: string } {
  const entry = parseCanonicalEntry(file) ?? parseAnyEntry(file);
  if ("unreadable" in entry) return entry;
  return { ...entry, headBytes: utf8Bytes(file.slice(0, file.length - entry.body.length)) };
}

type ParsedEntry = Omit<Entry, "headBytes">;

function parseCanonicalEntry(file: string): ParsedEntry | null {
  const found = readCanonicalFile(file);
  const type = found && typeOf(found.type);
  if (!type) return null;
  const { description, created, updated, body } = found;
  return { description, type, created, updated, body, frontMatter: null };
}

/** Parses a file that people or other programs wrote, in any YAML. */
function parseAnyEntry(file: string): ParsedEntry | { unreadable: string } {
  const front = splitFrontMatter(file);
  if (!front) return { unreadable: whyNoFrontMatter(file) };
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

/** Formats an entry. Keys that people added to the replaced front matter are kept. */
export function formatEntry(fields: EntryFields, body: string, replaced: string | null = null): string {
  const { name, description, type, created, updated } = fields;
  const pairs = Object.entries({ name, description, type, created, updated });
  const own = formatCanonicalLines(pairs) ?? formatFields(pairs);
  return joinFrontMatter(replaced === null ? own : own + keptLines(own, replaced, ownKeys), body);
}
