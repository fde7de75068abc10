/**
 * The lines of `MEMORY.md` that list an entry. Tools write `- [name](name.md) — description`. People write another title,
 * other bullets, `[Title](./name.md)`, `[Title](<name.md> "title")`, `[[name]]`, `[[name|Title]]`, `- name.md`.
 *
 * The target says which entry it is. A line has the link at its beginning: behind a bullet and perhaps an emoji, or with
 * nothing but a dash or a colon after it. Any other line is prose, which can mention entries, and belongs to people.
 */
import { entryNameAt, isReserved } from "./entry-name.ts";

export interface EntryLine {
  readonly name: string;
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
    return startsRest.test(rest) && !isReserved(own[1]) ? { name: own[1], head: own[0], rest } : null;
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
    const name = nameAt(first ?? second ?? "", form === links[1]);
    const head = before + found;
    const rest = line.slice(head.length);
    return name !== null && (isListed ? startsRest : separates).test(rest) ? { name, head, rest } : null;
  }
  const [found, , path = ""] = (isListed && bare.exec(link)) || [];
  const name = nameAt(path, false);
  if (found === undefined || name === null) return null;
  const head = before + found;
  const rest = line.slice(head.length);
  return separates.test(rest) ? { name, head, rest } : null;
}

const startsRest = /^(?:$|[ \t\xa0:;,.|\u2013\u2014\u2192\uff0c\uff1a]|[-=]+>?[ \t])/;
const separates = /^[ \t\xa0]*(?:$|:[ \t]|[-\u2013\u2014]+[ \t]|[\u2013\u2014\uff1a])/;

/** The name of the entry that a link leads to. An entry is never in another folder, or on the web. */
function nameAt(target: string, isWiki: boolean): string | null {
  let path = target.trim().replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
  if (path.includes("%")) {
    try {
      path = decodeURIComponent(path);
    } catch {
      return null;
    }
  }
  path = path.replace(/^(?:\.\/)+/, "").replace(/#.*$/s, "");
  return entryNameAt(isWiki && !path.endsWith(".md") ? `${path}.md` : path);
}

/** A line as tools write it. */
export const lineOf = (name: string, description: string): string => linkTo(name) + restOf(description);

/** What tools write behind a link. */
export const restOf = (description: string): string => ` \u2014 ${description}`;

export const linkTo = (name: string): string => `- [${name}](${name}.md)`;

/** What a line says of its entry. A line written by hand can have no dash or another one. */
export const saidIn = ({ rest }: EntryLine): string =>
  rest.replace(/^[ \t\xa0]*(?:[:;,.|\u2013\u2014\u2192\uff0c\uff1a][ \t]*|[-=]+>?[ \t]+)?/, "").trim();
