/** The command `view`: a file with numbered lines, or what is in a folder. */
import { utf8Bytes } from "../../../shared/text.ts";
import { shownBody } from "../../kit/hidden-text.ts";
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import type { Changed } from "../change-entry.ts";
import type { FoundEntry } from "../entry-store.ts";
import { linesOfOthers } from "../marked-lines.ts";
import { unreadableNote } from "../unreadable-note.ts";
import { noPlainFile, unreadable } from "../unreadable.ts";
import { fitsAnswer, numberedWithin } from "./cut-lines.ts";
import { parseFilePath } from "./file-path.ts";
import type { FilePath } from "./file-path.ts";
import { FolderListing } from "./folder-listing.ts";
import { OwnFiles } from "./own-files.ts";
import type { Folder } from "./own-files.ts";
import type { ViewInput } from "./schemas.ts";
import { countLines, linesOf } from "./text-lines.ts";

type Range = readonly [first: number, last: number];

/** The model is told that a view is cut there, and that it can view ranges of lines. */
const shownCharsMax = 16_000;

/** The most that a line's number has room for. */
const linesMax = 999_999;

export function viewPath({ path, view_range: range }: ViewInput): Answer<Changed> {
  const place = parseFilePath(path);
  const files = new OwnFiles();
  const named = files.find(place);
  if (named === null) {
    const fault = files.at.faultAt(place.key);
    if (fault !== null && fault !== noPlainFile.unreadable) throw unreadable("view", place.shown, fault);
    throw new ToolError("ENTRY_NOT_FOUND", `The path ${place.shown} does not exist. Please provide a valid path.`);
  }
  const message = named.folder
    ? listingOf(files, named.folder, place)
    : contentsOf(files, named.entries, { place, range });
  return { message, data: {} };
}

function listingOf({ at, self }: OwnFiles, { prefix }: Folder, { shown }: FilePath): string {
  const listing = new FolderListing();
  for (const { key, value, owner } of at.eachVisibleBelow(prefix)) {
    listing.add(key.slice(prefix.length), utf8Bytes(value.content), owner === self ? "you" : owner);
  }
  const what = `the files and directories up to 2 levels deep in ${shown}, excluding hidden items and node_modules`;
  return [`Here're ${what}:\n${listing.text(shown)}`, ...unreadableNote([at], self)].join("\n");
}

interface Asked {
  readonly place: FilePath;
  readonly range: Range | undefined;
}

/** The caller's own file, then those that others have put at the same path, as far as an answer has room. */
function contentsOf({ self }: OwnFiles, entries: readonly FoundEntry[], { place, range }: Asked): string {
  const own = entries.find(({ owner }) => owner === self);
  const others = entries.filter((entry) => entry !== own);
  let text = own === undefined ? "" : contentOf(own, place, range);
  for (const [at, entry] of others.entries()) {
    const gap = text === "" ? "" : "\n\n";
    const by = `Another agent, ${entry.owner}, has created a file at this path.\n`;
    const content = linesOfOthers(entry.value.content).join("\n");
    const shown = { ...entry, value: { ...entry.value, content } };
    const longer = text + gap + by + contentOf(shown, place, own === undefined ? range : undefined);
    if (!fitsAnswer(longer)) return `${text}\n[${others.length - at} more by other agents]`;
    text = longer;
  }
  return text;
}

function contentOf({ encrypted, value }: FoundEntry, { shown }: FilePath, range: Range | undefined): string {
  if (encrypted) return `The file ${shown} is encrypted, so its content is not shown.`;
  const header = `Here's the content of ${shown} with line numbers:\n`;
  const content = shownBody(value.content);
  if (content.length > linesMax && countLines(content) > linesMax) {
    throw new ToolError("INPUT_INVALID", `File ${shown} exceeds maximum line limit of 999,999 lines.`);
  }
  const lines = linesOf(content);
  if (range === undefined) return header + numberedWithin(lines, 1, shownCharsMax);
  const [first, last] = linesWithin(range, lines.length);
  return header + numberedWithin(lines.slice(first - 1, last), first, Infinity);
}

/** The numbers of the first and the last line of a range. Throws if no line of the file is in it. */
function linesWithin([from, to]: Range, count: number): Range {
  const first = Math.max(1, from);
  const last = to === -1 ? count : Math.min(to, count);
  if (first <= Math.max(1, count) && (to === -1 || first <= to)) return [first, last];
  const allowed = `It should be within the range of lines of the file: [1, ${count}]`;
  throw new ToolError("INPUT_INVALID", `Error: Invalid \`view_range\` parameter: [${from}, ${to}]. ${allowed}`);
}
