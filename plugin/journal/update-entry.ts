import { decodedName } from "../../shared/encoded-name.ts";
import { quoted } from "../../shared/text.ts";
import { now } from "../kit/capabilities.ts";
import { trashedNote } from "../kit/file-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { formatAt, parseAt } from "./at-time.ts";
import { appendBlock, endsInMeta } from "./block.ts";
import { findCanonical } from "./canonical-block.ts";
import type { FoundBlock } from "./canonical-block.ts";
import type { UpdateInput } from "./input.ts";
import { JournalFiles } from "./journal-files.ts";
import { keyNotFound } from "./key-not-found.ts";
import { memcellMark } from "./memcell-line.ts";
import type { UpdateOutput } from "./output.ts";
import type { Footer } from "./stored-block.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

/** Replaces the canonical block of a key: removes it from its file and appends the new one to the same file. */
export function updateEntry({ key: givenKey, content, tags }: UpdateInput): Answer<UpdateOutput> {
  const key = trim(givenKey).normalize("NFC");
  const files = new JournalFiles();
  const found = findCanonical(files, key);
  if (found === null) throw keyNotFound("update", key, files);

  const { path, kind, block: old } = found;
  const newTags = tags === undefined || tags === null ? old.tags : normalTags(tags);
  const block = { key, content, tags: newTags, at: formatAt(now()), created: createdOf(old.footer) };
  const trashed = files.write(path, appendBlock(withoutBlock(found), block));
  const shownPath = decodedName(path);
  return {
    message: `Memory ${quoted(key)} updated in ${shownPath}${trashedNote(trashed)}${files.unreadableNote()}`,
    data: { success: true, data: { key, path: shownPath, kind } },
    shows: [],
  };
}

/**
 * Removes the block and the empty line after it, so that an update adds no empty line. If a leftover memcell line would
 * then follow another block's meta line, an empty line keeps them apart.
 */
function withoutBlock({ file, start, block }: FoundBlock): string {
  const end = start + "### ".length + block.footer.end;
  const lineEnd = file.indexOf("\n", end);
  const isEmptyLine = lineEnd !== -1 && file.slice(end, lineEnd).replaceAll("\r", "") === "";
  const before = file.slice(0, start);
  const behind = file.slice(isEmptyLine ? lineEnd + 1 : end);
  return `${before}${behind.startsWith(memcellMark) && endsInMeta(before) ? "\n" : ""}${behind}`;
}

/** When the replaced block was first written; empty if that is unknown or not a valid time. */
function createdOf({ created, at }: Footer): string {
  if (created !== null) return created;
  return parseAt(at) === null ? "" : at.replace(" ", "T");
}
