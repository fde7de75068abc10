/**
 * An entry's file: front matter, then the value as it is. A person can also put a plain text there, without front
 * matter: an entry of the store's owner.
 */
import { isTooDeep, valueDepthMax } from "../../shared/data-depth.ts";
import { beginsWithNul, whyDamaged } from "../kit/file-text.ts";
import { joinFrontMatter, readFrontMatter } from "../kit/front-matter.ts";
import { keptLines } from "../kit/kept-lines.ts";
import type { EntryId, EntryPlace } from "./key-path.ts";
import { noteIn, noteKeys, noteLines, notePattern, noteOf } from "./note-lines.ts";
import type { Note } from "./note-lines.ts";
import type { Value } from "./value.ts";

export interface Entry extends EntryId {
  /** Whether the value is opaque: never searched, never in a prompt. */
  readonly encrypted: boolean;
  /** UTC, ISO 8601; `null` in a file that a person wrote without it. */
  readonly created: string | null;
  readonly updated: string | null;
  /** From then on the entry is gone; `null`: never. */
  readonly expires: string | null;
  readonly value: Value;
  /** What notes have besides. */
  readonly note?: Note | undefined;
  /** The front matter as it is in the file; `null` if it holds nothing but these fields. */
  readonly frontMatter: string | null;
}

/** `foreign`: an entry of the store's owner whose front matter names another owner, as after an import. */
export type Unreadable = {
  readonly unreadable: string;
  readonly foreign?: Entry;
  /** It is not UTF-8 text: what replaces it moves it to the trash. */
  readonly isNoText?: boolean;
};

const ownKeys = ["key", "owner", "namespace", "in_context", "encrypted", "created", "updated", "expires", "format"];

export function formatEntry(entry: Omit<Entry, "frontMatter">, replaced: string | null = null): string {
  const { key, owner, namespace, isInternal, encrypted, created, updated, expires, value, note, isItem } = entry;
  const lines = [
    `key: ${JSON.stringify(key)}`,
    // Items have no other owner than their store, so an import need not change them.
    ...(isItem ? [] : [`owner: ${owner}`]),
    ...(namespace === "" ? [] : [`namespace: ${JSON.stringify(namespace)}`]),
    `in_context: ${!isInternal}`,
    `encrypted: ${encrypted}`,
    ...(created === null ? [] : [`created: '${created}'`]),
    `updated: '${updated ?? ""}'`,
    ...(expires === null ? [] : [`expires: '${expires}'`]),
    ...(value.format === "json" ? ["format: json"] : []),
    ...(note === undefined ? [] : noteLines(note)),
  ];
  const own = `${lines.join("\n")}\n`;
  const keys = note === undefined ? ownKeys : [...ownKeys, ...noteKeys];
  return joinFrontMatter(replaced === null ? own : own + keptLines(own, replaced, keys), value.content);
}

/** Parses a file. If it is no entry, or not the one of its place, returns the reason as a clause about "it". */
export function parseEntry(file: string, place: EntryPlace, store: string): Entry | Unreadable {
  const found = readOwnForm(file, place) ?? readAnyForm(file, place, store);
  if ("unreadable" in found) return found;
  // As paths have them: a person's editor can write another form of Unicode.
  const [key, namespace] = [found.key.normalize("NFC"), found.namespace.normalize("NFC")];
  const entry = { ...found, key, namespace };
  const { owner, isInternal } = entry;
  const isInPlace = owner === place.owner && (place.namespace ?? namespace) === namespace && (place.key ?? key) === key;
  if (!isInPlace && place.owner === store && (place.key ?? key) === key && owner !== store) {
    return { unreadable: "its front matter names another owner", foreign: entry };
  }
  // A person can hide an entry in its front matter; what lies among the internal ones stays hidden.
  return isInPlace
    ? { ...entry, isInternal: isInternal || place.isInternal, isItem: place.isItem }
    : { unreadable: "its front matter names another entry than its path" };
}

const string = String.raw`"(?:[^"\\\n]|\\.)*"`;
const stamp = String.raw`'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)'`;

/** What `formatEntry` writes. The YAML library takes two milliseconds of a call, and nearly all files have this form. */
const ownForm = new RegExp(
  `^---\nkey: (${string})\n(?:owner: ([0-9a-f-]{36})\n)?(?:namespace: (${string})\n)?in_context: (true|false)\n` +
    `encrypted: (true|false)\n(?:created: ${stamp}\n)?updated: ${stamp}\n(?:expires: ${stamp}\n)?(?:format: (json)\n)?${notePattern}---\n`,
);

/** More than that form can have. In a longer text, a search that fails would go through all of it. */
const ownFormCharsMax = 4_096;

function readOwnForm(file: string, place: EntryPlace): Entry | Unreadable | null {
  const found = ownForm.exec(file.slice(0, ownFormCharsMax));
  if (found === null) return null;
  const [
    head,
    key = "",
    owner = place.owner,
    namespace,
    inContext,
    encrypted,
    created,
    updated,
    expires,
    format,
    ...rest
  ] = found;
  const [keyText, namespaceText] = [parsed(key), namespace === undefined ? "" : parsed(namespace)];
  const note = noteIn(rest);
  if (typeof keyText !== "string" || typeof namespaceText !== "string" || note === null) return null;
  return withValue(
    {
      key: keyText,
      owner,
      namespace: namespaceText,
      isInternal: inContext === "false",
      encrypted: encrypted === "true",
      created: created ?? null,
      updated: updated ?? null,
      expires: expires ?? null,
      note,
      frontMatter: null,
    },
    { format: format ?? "text", content: file.slice(head.length) },
  );
}

function readAnyForm(file: string, place: EntryPlace, store: string): Entry | Unreadable {
  if (beginsWithNul(file)) return { unreadable: whyDamaged(file), isNoText: true };
  const front = readFrontMatter(file);
  if ("unreadable" in front) return plainText(file, place, store) ?? front;
  const text = (name: string): string | null => {
    const value = front.fields.get(name);
    return typeof value === "string" ? value : null;
  };
  const [key, owner] = [text("key") ?? place.key, text("owner") ?? place.owner];
  if (key === null) return { unreadable: "its front matter has no key" };
  const namespace = text("namespace") ?? place.namespace;
  if (namespace === null) return { unreadable: "its front matter has no namespace" };
  const [inContext, encrypted] = [text("in_context") ?? "true", text("encrypted") ?? "false"];
  const wrong = [inContext, encrypted].find((each) => each !== "true" && each !== "false");
  // A secret must not become visible by a slip of the pen.
  if (wrong !== undefined) return { unreadable: "its in_context or encrypted is neither true nor false" };
  const expires = timeIn(text("expires"));
  if (expires === undefined) return { unreadable: "its expires is no time such as 2026-01-31T00:00:00.000Z" };
  return withValue(
    {
      key,
      owner,
      namespace,
      isInternal: inContext === "false",
      encrypted: encrypted === "true",
      created: timeIn(text("created")) ?? null,
      updated: timeIn(text("updated")) ?? null,
      expires,
      note: noteOf(text("source"), text("description")),
      frontMatter: front.text,
    },
    { format: text("format") ?? "text", content: front.body },
  );
}

/** Returns `null` where no text can be. A file that begins like front matter is not taken for one. */
function plainText(file: string, { key, owner, isInternal, namespace }: EntryPlace, store: string): Entry | null {
  if (key === null || namespace === null || owner !== store || /^\uFEFF?---/.test(file.slice(0, 4))) return null;
  const times = { created: null, updated: null, expires: null };
  // Editors put a byte order mark there.
  const value: Value = { format: "text", content: file.startsWith("\ufeff") ? file.slice(1) : file };
  return { key, owner, namespace, isInternal, encrypted: false, ...times, value, frontMatter: null };
}

function withValue(
  fields: Omit<Entry, "value">,
  { format, content }: { readonly format: string; readonly content: string },
): Entry | Unreadable {
  if (format === "text") return { ...fields, value: { format, content } };
  if (format !== "json") return { unreadable: "its format is neither text nor json" };
  const value = parsed(content);
  if (value === undefined) return { unreadable: "its value is not JSON" };
  if (isTooDeep(value, valueDepthMax)) return { unreadable: `its value is over ${valueDepthMax} levels deep` };
  return { ...fields, value: { format, content } };
}

/** `null` if there is none, `undefined` if it is no time. */
function timeIn(text: string | null): string | null | undefined {
  if (text === null || text === "" || text === "null") return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
