/**
 * The lines of `MEMORY.md` that list an entry. Tools write `- [name](name.md) — description`. People write another title,
 * other bullets, `[Title](./name.md)`, `[Title](<name.md> "title")`, `[[name]]`, `[[name|Title]]`, `- name.md`.
 *
 * The target says which entry it is: the path of its file, percent-encoded or not. Of a file that is not `<name>.md`, the
 * title says its name, if it is one that such a file can have. A line has the link at its beginning: behind a bullet and
 * perhaps an emoji, or with nothing but a dash or a colon after it. Any other line is prose, which can mention entries, and
 * belongs to people.
 */
import { entryNameAt, entryPath, isEntryName, isReserved } from "./entry-name.ts";
import { longName, notePathOf, shortName } from "./notes.deferred.ts";

export interface EntryLine {
  /** Of the entry's file. */
  readonly path: string;
  /** The title of a Markdown link that could be a name; else `null`. */
  readonly title: string | null;
  /** The line up to the end of the link: a person's title and bullet. */
  readonly head: string;
  /** What follows it, without a line end. */
  readonly rest: string;
}

const written = /^- \[([a-zA-Z0-9_-]{1,100})\]\(\1\.md\)/;

/** Everything that can stand before a link. The bullets are also those that other programs put there. */
const bullet =
  /^[ \t]*(?:(?:[-*+\u2013\u2014\u2022\u2023\u25aa\u25e6]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?:(?:[\u2190-\u2bff\u{1f000}-\u{1faff}]|\u200d|\ufe0f){1,8}[ \t]+)?)?/u;

/** A title can have one level of brackets. */
const links: readonly RegExp[] = [
  /^((?:\*\*|__|~~|[*_~])?)\[(?:\\.|[^[\]\\]|\[(?:\\.|[^[\]\\])*\])*\]\([ \t]*(?:<([^<>]*)>|([^\s()<>]+))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\)\1/,
  /^((?:\*\*|__|~~|[*_~])?)\[\[([^[\]|#]+)(?:#[^[\]|]*)?(?:\|[^[\]]*)?\]\]\1/,
];
const bare = /^([`]?)<?((?:\.\/)*[a-zA-Z0-9_-]{1,100}\.md)>?\1/;

/** The text of a link's line that is looked at: a line can have 2 MiB. */
const headCharsMax = 1_024;

/** Returns what a line lists, or `null` if it is prose. */
export function entryLineIn(line: string): EntryLine | null {
  const own = written.exec(line);
  if (own?.[1] !== undefined) {
    const rest = line.slice(own[0].length);
    if (!startsRest.test(rest) || isReserved(own[1])) return null;
    return { path: entryPath(own[1]), title: own[1], head: own[0], rest };
  }
  const start = line.slice(0, headCharsMax);
  const before = bullet.exec(start)?.[0] ?? "";
  const link = start.slice(before.length);
  const isListed = before.trim() !== "";
  // Most prose begins with a letter.
  if (!isListed && !/^[*_~[]/.test(link)) return null;
  for (const form of links) {
    const [found, , first, second] = form.exec(link) ?? [];
    if (found === undefined) continue;
    const path = pathOf(first ?? second ?? "", form === links[1]);
    const head = before + found;
    const rest = line.slice(head.length);
    const title = /^\[([^\]]*)\]\(/.exec(found)?.[1] ?? "";
    if (path === null || !(isListed ? startsRest : separates).test(rest)) return null;
    return { path, title: isEntryName(title) ? title : null, head, rest };
  }
  const [found, , target = ""] = (isListed && bare.exec(link)) || [];
  const path = pathOf(target, false);
  if (found === undefined || path === null) return null;
  const head = before + found;
  const rest = line.slice(head.length);
  return separates.test(rest) ? { path, title: null, head, rest } : null;
}

/**
 * Whether a line lists an entry even if there is no such file. People link to notes that they have not written yet; only
 * `<name>.md`, and what tools write, is surely an entry's.
 */
export const isSurely = ({ path, title }: EntryLine): boolean =>
  entryNameAt(path) !== null || title === shortName(path) || title === longName(path);

/** The name that a line gives its entry, as far as it can tell without the other files. */
export const nameIn = ({ path, title }: EntryLine): string =>
  entryNameAt(path) ?? (title === longName(path) ? title : shortName(path));

const startsRest = /^(?:$|[ \t\xa0:;,.|\u2013\u2014\u2192\uff0c\uff1a]|[-=]+>?[ \t])/;
const separates = /^[ \t\xa0]*(?:$|:[ \t]|[-\u2013\u2014]+[ \t]|[\u2013\u2014\uff1a])/;

/** The path of the note that a link leads to; `null` if it leads elsewhere, such as to the web. */
function pathOf(target: string, isWiki: boolean): string | null {
  const plain = target.trim().replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
  const [file = ""] = plain.replace(/^(?:\.\/)+/, "").split("#", 1);
  const path = isWiki && !file.endsWith(".md") ? `${file}.md` : file;
  return entryNameAt(path) === null && mayBeNote(path) ? notePathOf(path) : ownPath(path);
}

/** Most links that are no entry's lead to the web, or to other files. */
const mayBeNote = (path: string): boolean => path.endsWith(".md") && !path.includes(":");

const ownPath = (path: string): string | null => (entryNameAt(path) === null ? null : path);

/** A line as tools write it. */
export const lineOf = (entry: Linked & { readonly description: string }): string =>
  linkTo(entry) + restOf(entry.description);

/** An entry as its line links to it. */
export interface Linked {
  readonly name: string;
  readonly path: string;
}

/** What tools write behind a link. */
export const restOf = (description: string): string => ` \u2014 ${description}`;

const linkTo = ({ name, path }: Linked): string => `- [${name}](${path})`;

/** Whether a line's link is as tools write it. */
export const isOwnLink = (line: EntryLine): boolean =>
  line.head === linkTo({ name: line.title ?? "", path: line.path }) && isSurely(line);

/** What a line says of its entry. A line written by hand can have no dash or another one. */
export const saidIn = ({ rest }: EntryLine): string =>
  (rest.startsWith(ownDash) ? rest.slice(ownDash.length) : rest.replace(anyDash, "")).trim();

const ownDash = restOf("");
const anyDash = /^[ \t\xa0]*(?:[:;,.|\u2013\u2014\u2192\uff0c\uff1a][ \t]*|[-=]+>?[ \t]+)?/;
