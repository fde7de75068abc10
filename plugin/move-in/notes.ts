/**
 * A file that is one memory: a note of Obsidian or basic-memory, a file of Claude Code's memory or of Claude's memory tool, any
 * Markdown. Its text stays byte for byte; what its front matter says beside an entry's own fields stays as well.
 */
import { quoted } from "../../shared/text.ts";
import { exceedsUtf8Bytes } from "../../shared/text.ts";
import { damaged, whyDamaged } from "../kit/file-text.ts";
import { formatFields, opensFrontMatter, readFrontMatter } from "../kit/front-matter.ts";
import type { FrontMatter } from "../kit/front-matter.ts";
import { keptLines } from "../kit/kept-lines.ts";
import { ownKeys } from "../user-memory/entry-file.ts";
import { entryLimits } from "../user-memory/entry-limits.ts";
import { asIndexDescription } from "../user-memory/index-description.ts";
import { nameFrom } from "../user-memory/name-from.ts";
import { partCharsOf } from "./body-parts.ts";
import { timeFrom, typeFrom } from "./entry-facts.ts";
import { fitsBesideFields } from "./intake.ts";
import type { Draft } from "./intake.ts";
import type { FilePiece, OpenFile, Reading } from "./reading.ts";

export function readNote(reading: Reading, { path, text, more }: FilePiece, open: OpenFile): number {
  const { intake } = reading;
  if (damaged.test(text)) {
    if (open.counted++ === 0) intake.leave(path, whyDamaged(text));
    return text.length;
  }
  let at = 0;
  if (open.note === undefined) {
    if (text.trim() === "" && !more) intake.leave(path, "it is empty");
    const { body, ...draft } = noteDraft(path, text, reading);
    open.note = { draft, part: 1 };
    at = text.length - body.length;
    if (!more && !exceedsUtf8Bytes(body, entryLimits.bodyBytesMax)) {
      if (text.trim() !== "") intake.add(path, { ...draft, body });
      return text.length;
    }
  }
  return at + readParts({ intake, path, more }, text.slice(at), open);
}

/** Makes entries of whole parts, and of what is left at the end of the file. */
function readParts(
  { intake, path, more }: Pick<Reading, "intake"> & Pick<FilePiece, "path" | "more">,
  text: string,
  open: OpenFile,
): number {
  let at = 0;
  while (open.note !== undefined && !intake.isFull && at < text.length) {
    const { draft, part } = open.note;
    const rest = text.slice(at);
    const isWhole = !exceedsUtf8Bytes(rest, entryLimits.bodyBytesMax);
    // The part is not full yet. A caller that sends so little gets a part of what it sends.
    if (isWhole && more && at > 0) break;
    const chars = isWhole ? rest.length : partCharsOf(text, at);
    intake.add(path, { ...draft, body: text.slice(at, at + chars) }, part);
    open.note = { draft: { ...draft, others: "" }, part: part + 1 };
    at += chars;
  }
  return at;
}

function noteDraft(path: string, text: string, { format, hooks, intake }: Reading): Draft {
  const described = path.normalize("NFC");
  const hook = Object.hasOwn(hooks, described) ? (hooks[described] ?? null) : null;
  delete hooks[described];
  const front = opensFrontMatter(text) ? readFrontMatter(text) : null;
  const titles = fileTitles(path);
  // Claude Code names its files after the type: `feedback_testing.md`.
  const otherwise = typeFrom(format === "claude-code" ? titles[0]?.split(/[_-]/, 1) : [], "reference");
  const plain = { titles, description: hook, type: otherwise, created: null, updated: null };
  if (front === null || "unreadable" in front) return { ...plain, others: "", body: text };
  const { fields, body } = front;
  const title = firstText(fields, ["title", "name"]);
  const others = otherLines(front, title);
  // Then it stays above the text.
  if (!fitsBesideFields(others)) return { ...plain, others: "", body: text };
  const own = firstText(fields, ["description", "summary"]);
  if (own !== null && hook !== null && !own.toLowerCase().includes(hook.toLowerCase()))
    intake.leave(path, `it has a description of its own; the index says: ${quoted(hook)}`);
  const metadata = fields.get("metadata");
  const kinds = [fieldOf(metadata, "type"), fields.get("type"), fields.get("category"), fields.get("tags")];
  return {
    titles: title === null ? titles : [title, ...titles],
    description: own ?? hook,
    type: typeFrom(kinds.flatMap(wordsIn), otherwise),
    created: firstTime(fields, ["created", "created_at", "date"]),
    updated: firstTime(fields, ["updated", "updated_at", "modified", "last_modified"]),
    others,
    body,
  };
}

/** A file's name, and that with its folder's: two folders can each have an `index.md`. */
function fileTitles(path: string): string[] {
  const [file = "", folder = ""] = path.split("/").toReversed();
  const stem = file.replace(/\.[a-z0-9]{1,10}$/i, "");
  return [stem, `${folder}-${stem}`];
}

function firstText(fields: FrontMatter["fields"], keys: readonly string[]): string | null {
  const texts = keys.map((key) => fields.get(key)).filter((value) => typeof value === "string");
  return texts.find((text) => text.trim() !== "") ?? null;
}

const firstTime = (fields: FrontMatter["fields"], keys: readonly string[]): string | null =>
  keys.map((key) => timeFrom(fields.get(key))).find((time) => time !== null) ?? null;

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined;

const wordsIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** What stays of front matter: other keys as they are, and own keys that this memory writes otherwise, as `source_name`. */
function otherLines({ text, fields }: FrontMatter, title: string | null): string {
  const name = fields.get("name");
  const isSaid: Readonly<Record<string, (value: string) => boolean>> = {
    name: (value) => nameFrom(value) === value && (name === title || nameFrom(title ?? "") === value),
    description: (value) => asIndexDescription(value, "") === value.trim(),
    type: (value) => typeFrom(value, "reference") === value,
    created: (value) => timeFrom(value) !== null,
    updated: (value) => timeFrom(value) !== null,
  };
  const changed = ownKeys.flatMap((key): (readonly [string, unknown])[] => {
    const value = fields.get(key);
    const isKept = value === undefined || value === "" || fields.has(`source_${key}`);
    const stays = isKept || (typeof value === "string" && isSaid[key]?.(value));
    return stays ? [] : [[`source_${key}`, value]];
  });
  const sources = changed.length === 0 ? "" : formatFields(changed);
  // Most notes have no such key, and the library would take longer than all the rest.
  const isKept = !ownKeys.some((key) => fields.has(key)) && text.endsWith("\n") && plainLines.test(text);
  return sources + (isKept ? text : keptLines("", text, ownKeys));
}

/** Lines that mean the same behind others: keys, what is indented below them or in a list, comments. */
const plainLines = /^(?:(?:[A-Za-z_][\w-]*:(?:[ \t].*)?|[ \t]+\S.*|- .*|#.*)?\r?\n)+$/;
