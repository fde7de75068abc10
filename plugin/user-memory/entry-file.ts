/**
 * An entry's file: five fields in front matter, any keys that people added by hand, then the body. People can leave out
 * fields, or all of the front matter: then the file is the body, and the body gives the description.
 */
import { utf8Bytes } from "../../shared/text.ts";
import { damaged, withoutDamage } from "../kit/file-text.ts";
import { whyTooLarge } from "../kit/front-matter-bounds.ts";
import { fencedText, formatFields, joinFrontMatter, opensFrontMatter, readFrontMatter } from "../kit/front-matter.ts";
import type { FrontMatter } from "../kit/front-matter.ts";
import { keptLines } from "../kit/kept-lines.ts";
import { formatCanonicalLines, readCanonicalFile } from "./canonical-form.ts";
import { entryTypes } from "./entry-types.ts";
import type { EntryType } from "./entry-types.ts";
import { describedByText } from "./index-description.ts";
import { plainFields } from "./plain-fields.ts";

export interface Entry {
  readonly description: string;
  readonly type: EntryType;
  /** UTC, ISO 8601, unless a person wrote something else; `null` if the file has none. */
  readonly created: string | null;
  readonly updated: string | null;
  readonly body: string;
  /** The bytes of the file before the body: to count those of a large body takes the engine long. */
  readonly headBytes: number;
  /** The front matter as it is in the file; `null` if there are no other keys to keep. */
  readonly frontMatter: string | null;
  /** What a person left out, as a clause about "it"; `null` if description and type are from the front matter. */
  readonly incomplete: string | null;
}

/** A file that cannot be read as an entry. What can be read of it is listed and found. */
export interface Unreadable {
  /** The reason, as a clause about "it". */
  readonly unreadable: string;
  /** What a list says of it; `null` if nothing can be read. */
  readonly description: string | null;
  /** The value behind `description:`, as it is written. */
  readonly said: string | null;
  readonly type: EntryType;
  /** What can be read. */
  readonly text: string;
}

/** The characters of front matter that a call still gives to the YAML library. */
export interface YamlBudget {
  charsLeft: number;
}

/**
 * Of a call that reads many files: each call begins with new variables. The library takes up to 15 µs for a character,
 * and a folder of large front matter, which no tool writes, must not cost every prompt its index.
 */
export const yamlBudget: YamlBudget = { charsLeft: 131_072 };

/** The type of an entry whose file has none. */
export const typeWhenMissing: EntryType = "reference";

/** Parses a file. `budget`: for calls that read many. */
export function parseEntry(file: string, name: string, budget: YamlBudget | null = null): Entry | Unreadable {
  const entry = parseCanonicalEntry(file) ?? parseAnyEntry(file, name, budget);
  if ("unreadable" in entry) return unreadableEntry(file, name, entry.unreadable);
  return { ...entry, headBytes: utf8Bytes(file.slice(0, file.length - entry.body.length)) };
}

/** What is known of a file that cannot be read as an entry: `text` is what can be read of it. */
export function unreadableEntry(text: string, name: string, unreadable: string): Unreadable {
  const clean = damaged.test(text) ? withoutDamage(text) : text;
  const front = opensFrontMatter(clean) ? (fencedText(clean)?.text ?? clean.slice(0, saidWithinChars)) : "";
  const valueOf = (key: string): string | null => {
    const value = new RegExp(`^${key}:[ \\t]+(\\S.*)$`, "m").exec(front)?.[1]?.trim() ?? "";
    return value.replace(/^(["'])(.*)\1$/, "$2") || null;
  };
  const said = valueOf("description");
  const hasText = clean.trim() !== "" || text === "";
  return {
    unreadable,
    description: said ?? (hasText ? describedByText(clean, name) : null),
    said,
    type: typeOf(valueOf("type")) ?? typeWhenMissing,
    text,
  };
}

/** Where front matter that nothing closes can have its description. */
const saidWithinChars = 2_048;

type ParsedEntry = Omit<Entry, "headBytes">;

function parseCanonicalEntry(file: string): ParsedEntry | null {
  const found = readCanonicalFile(file);
  const type = found && typeOf(found.type);
  if (!type || found.description.trim() === "") return null;
  const { description, created, updated, body } = found;
  return { description, type, created, updated, body, frontMatter: null, incomplete: null };
}

/** Parses a file that people or other programs wrote, in any YAML. */
function parseAnyEntry(
  file: string,
  name: string,
  budget: YamlBudget | null,
): ParsedEntry | Pick<Unreadable, "unreadable"> {
  if (!opensFrontMatter(file)) return textWithoutFrontMatter(file, name);
  const fenced = budget && fencedText(file);
  if (budget && fenced) {
    budget.charsLeft -= fenced.text.length;
    if (budget.charsLeft < 0) return plainEntry(fenced, name);
  }
  const front = readFrontMatter(file);
  return "unreadable" in front ? front : completed(front, name);
}

/** An entry whose front matter the library may not read any more. */
function plainEntry(fenced: Pick<FrontMatter, "text" | "body">, name: string): ReturnType<typeof parseAnyEntry> {
  const tooLarge = whyTooLarge(fenced.text);
  if (tooLarge !== null) return { unreadable: `its front matter ${tooLarge}` };
  return completed({ ...fenced, fields: plainFields(fenced.text) }, name);
}

function textWithoutFrontMatter(body: string, name: string): ParsedEntry {
  return {
    description: describedByText(body, name),
    type: typeWhenMissing,
    created: null,
    updated: null,
    body,
    frontMatter: null,
    incomplete: "it has no front matter",
  };
}

function completed({ fields, body, text: frontMatter }: FrontMatter, name: string): ParsedEntry {
  const text = (key: string): string | null => {
    const value = fields.get(key);
    return typeof value === "string" && value.trim() !== "" ? value : null;
  };
  const description = text("description");
  const type = typeOf(text("type"));
  const lacks = [...(description === null ? ["no description"] : []), ...(type ? [] : [`no type of ${allowedTypes}`])];
  return {
    description: description ?? describedByText(body, name),
    type: type ?? typeWhenMissing,
    created: text("created"),
    updated: text("updated"),
    body,
    frontMatter,
    incomplete: lacks.length > 0 ? `its front matter has ${lacks.join(" and ")}` : null,
  };
}

/** A time for a list of many: a person can write anything, and what is no date of ISO 8601 counts as missing. */
export const listedTime = (text: string | null): string | null => (text !== null && isoDate.test(text) ? text : null);

const isoDate = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z| ?[-+]\d\d(?::?\d\d)?)?)?$/;

const allowedTypes = entryTypes.join(", ");

const typeOf = (text: string | null): EntryType | undefined => entryTypes.find((each) => each === text);

export interface EntryFields {
  readonly name: string;
  readonly description: string;
  readonly type: EntryType;
  /** `null`: not known. */
  readonly created: string | null;
  readonly updated: string | null;
}

export const ownKeys: readonly string[] = ["name", "description", "type", "created", "updated"];

/** Formats an entry. Keys that people added to the replaced front matter are kept. */
export function formatEntry(fields: EntryFields, body: string, replaced: string | null = null): string {
  const own = formatOwnFields(fields);
  return joinFrontMatter(replaced === null ? own : own + keptLines(own, replaced, ownKeys), body);
}

/** The lines of its own fields: front matter begins with them. */
export function formatOwnFields({ name, description, type, created, updated }: EntryFields): string {
  const pairs = Object.entries({ name, description, type, created, updated }).filter(hasValue);
  return formatCanonicalLines(pairs) ?? formatFields(pairs);
}

const hasValue = (pair: [string, string | null]): pair is [string, string] => pair[1] !== null;
