import { decodedName } from "../../shared/encoded-name.ts";
import { quoted, utf8Bytes } from "../../shared/text.ts";
import { shown, shownBody } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { findCanonical } from "./canonical-block.ts";
import type { ReadInput } from "./input.ts";
import { journal, JournalFiles } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import { keyNotFound } from "./key-not-found.ts";
import type { ReadOutput } from "./output.ts";
import { trim } from "./white-space.ts";

/** Returns the whole canonical block of a key. */
export function readEntry({ key: givenKey }: ReadInput): Answer<ReadOutput> {
  const key = trim(givenKey);
  const files = new JournalFiles();
  const found = findCanonical(files, key);
  if (found === null) throw keyNotFound("read", key, files);

  const { path, kind, block } = found;
  if (block.isTooLarge) throw tooLarge({ key, path }, `${block.length} characters`);
  const { at, created } = block.footer;
  const data = {
    key: shown(block.key),
    content: shownBody(block.content),
    tags: block.tags.map(shown),
    file: decodedName(path),
    kind,
    created_at: created ?? at,
    updated_at: at,
  };
  const bytes = utf8Bytes(JSON.stringify(data));
  if (bytes > journalLimits.resultsBytesMax) throw tooLarge({ key, path }, `${bytes} bytes of JSON`);
  const message = `Memory ${quoted(key)} from ${decodedName(path)}${files.unreadableNote()}`;
  return { message, data: { success: true, data }, shows: [journal.place(path)] };
}

function tooLarge({ key, path }: { key: string; path: string }, size: string): ToolError {
  return new ToolError(
    "MEMORY_STORAGE_ERROR",
    `Cannot read memory ${quoted(key)}: its block in ${decodedName(path)} is ${size}, ` +
      `at most ${journalLimits.resultsBytesMax} bytes of JSON allowed`,
  );
}
