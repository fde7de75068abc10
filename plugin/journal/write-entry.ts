import { codePoints, quoted } from "../../shared/text.ts";
import { now } from "../kit/capabilities.ts";
import { trashedNote } from "../kit/file-text.ts";
import { whyNotSeen } from "../kit/one-line.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { dailyPath, formatAt } from "./at-time.ts";
import { appendBlock } from "./block.ts";
import { hasKey } from "./canonical-block.ts";
import { isFitKey } from "./fit-key.ts";
import type { WriteInput } from "./input.ts";
import { JournalFiles, summaryPath } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import type { WriteOutput } from "./output.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

/** Appends a block with a new key to the day's file or to the summary. */
export function writeEntry(input: WriteInput): Answer<WriteOutput> {
  const key = trim(input.key).normalize("NFC");
  const target = input.target ?? "daily";
  const files = new JournalFiles();
  if (hasKey(files, key)) throw keyExists(key);
  refuseUnfitKey(key);

  const time = now();
  const path = target === "summary" ? summaryPath : dailyPath(time);
  const block = { key, content: input.content, tags: normalTags(input.tags), at: formatAt(time), created: null };
  const trashed = files.write(path, appendBlock(files.readToChange(path), block));
  return {
    message: `Memory ${quoted(key)} written to ${path}${trashedNote(trashed)}${files.unreadableNote()}`,
    data: { success: true, data: { key, target, path } },
    shows: [],
  };
}

function keyExists(key: string): ToolError {
  return new ToolError(
    "MEMORY_KEY_EXISTS",
    `Cannot write memory ${quoted(key)}: the key exists; call memory_read to see it, then memory_update to replace it`,
  );
}

/** Throws `MEMORY_INVALID_KEY` if the key cannot be a heading. agentool, too, checks this last. */
function refuseUnfitKey(key: string): void {
  if (isFitKey(key)) return;
  throw new ToolError(
    "MEMORY_INVALID_KEY",
    `Cannot write memory: key is ${quoted(key)} (${codePoints(key)} characters), allowed: a single line of ` +
      `1 to ${journalLimits.keyCharsMax} characters without control characters and lone surrogates` +
      whyNotSeen(key),
  );
}
