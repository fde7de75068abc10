import { quoted } from "../../shared/text.ts";
import { now } from "../capabilities.ts";
import type { Answer } from "../serve-tool.ts";
import { formatAt, parseAt } from "./at-time.ts";
import { appendBlock, endsInMeta } from "./block.ts";
import { findCanonical } from "./canonical-block.ts";
import type { FoundBlock } from "./canonical-block.ts";
import type { UpdateInput } from "./input.ts";
import { journal, JournalFiles } from "./journal-files.ts";
import { keyNotFound } from "./key-not-found.ts";
import { memcellMark } from "./memcell-line.ts";
import type { UpdateOutput } from "./output.ts";
import type { Footer } from "./stored-block.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

/** Replaces the canonical block of a key: takes it out of its file, and adds the new one at the end of the same file. */
export function updateEntry({ key: givenKey, content, tags }: UpdateInput): Answer<UpdateOutput> {
  const key = trim(givenKey);
  const files = new JournalFiles();
  const found = findCanonical(files, key);
  if (found === null) throw keyNotFound("update", key, files);

  const { path, kind, block: old } = found;
  const newTags = tags === undefined || tags === null ? old.tags : normalTags(tags);
  const block = { key, content, tags: newTags, at: formatAt(now()), created: createdOf(old.footer) };
  journal.write(path, appendBlock(withoutBlock(found), block));
  return {
    message: `Memory ${quoted(key)} updated in ${path}${files.unreadableNote()}`,
    data: { success: true, data: { key, path, kind } },
  };
}

/**
 * The file without the block and the empty line behind it, so that a file does not grow by a line with each update. Where
 * a line of memcell's that belongs to nothing would come to stand behind another block, one keeps them apart.
 */
function withoutBlock({ file, start, block }: FoundBlock): string {
  const end = start + "### ".length + block.footer.end;
  const lineEnd = file.indexOf("\n", end);
  const isEmptyLine = lineEnd !== -1 && file.slice(end, lineEnd).replaceAll("\r", "") === "";
  const before = file.slice(0, start);
  const behind = file.slice(isEmptyLine ? lineEnd + 1 : end);
  return `${before}${behind.startsWith(memcellMark) && endsInMeta(before) ? "\n" : ""}${behind}`;
}

/** When the replaced block was first written; empty when nobody knows, or cannot be read. */
function createdOf({ created, at }: Footer): string {
  if (created !== null) return created;
  return parseAt(at) === null ? "" : at.replace(" ", "T");
}
