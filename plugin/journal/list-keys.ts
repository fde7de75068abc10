/**
 * Every key, once: first those of the summary, then those of the daily files only, of each the newest first, with the
 * first line of its canonical block.
 *
 * Left out is what comes after the 1,000th, or does not fit into an answer any more; and keys that no tool would write,
 * which only people can: over 200 characters, or with control characters in them.
 */
import type { ListedFile } from "../../shared/abi.ts";
import type { EntriesOutput } from "../../shared/roles.ts";
import { withinAnswer } from "../entry-list.ts";
import { oneLine } from "../one-line.ts";
import type { Answer } from "../serve-tool.ts";
import { readAt } from "./at-time.ts";
import { cutBlocks, portionsOf } from "./cut-blocks.ts";
import type { Portion } from "./cut-blocks.ts";
import { isFitKey } from "./fit-key.ts";
import { JournalFiles } from "./journal-files.ts";
import type { BlockKind } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import { isSurelyOlder } from "./newest-in.ts";
import { NewestKeys } from "./newest-keys.ts";
import { StoredBlock } from "./stored-block.ts";

const { keysListedMax, descriptionCharsMax } = journalLimits;

export function listKeys(): Answer<EntriesOutput> {
  const files = new JournalFiles();
  const newest = new NewestKeys(keysListedMax);
  for (const kind of ["summary", "daily"] as const) {
    if (newest.last?.kind === "summary") break;
    // From the end of the last file on: the newest blocks are there, and show soon that older ones have none to add.
    for (const file of files.of(kind).toReversed()) listFile({ files, newest }, file, kind);
    newest.dropSurplus();
  }
  const listed = newest.list().map(({ key, description }) => ({ name: key, description }));
  const entries = withinAnswer(listed, descriptionCharsMax);
  return { message: `${entries.length} entries${files.unreadableNote()}`, data: { entries } };
}

interface Listing {
  readonly files: JournalFiles;
  readonly newest: NewestKeys;
}

function listFile(listing: Listing, { path }: ListedFile, kind: BlockKind): void {
  const file = listing.files.read(path);
  if (file === null) return;
  for (const portion of portionsOf(file).toReversed()) {
    const { last } = listing.newest;
    if (last?.kind === kind && isSurelyOlder(portion.text, last.time)) continue;
    listPortion(listing, portion, { path, kind });
  }
}

function listPortion({ files, newest }: Listing, portion: Portion, place: { path: string; kind: BlockKind }): void {
  const [before = "", ...texts] = cutBlocks(portion.text);
  files.countCut(texts.length);
  // One less: the text begins with a line end that is not of this part of the file.
  let start = portion.start + before.length;
  for (const text of texts) {
    files.countRead();
    const block = new StoredBlock(text);
    const rank = { ...place, time: readAt(block.footer.at), start };
    start += "\n### ".length + text.length;
    if (block.key === "" || !isFitKey(block.key) || !newest.takes(block.key, rank)) continue;
    newest.add(block.key, { rank, description: descriptionOf(block) });
  }
}

/** The first line of its content; the key where there is none, or too much. */
function descriptionOf(block: StoredBlock): string {
  if (block.isTooLarge) return block.key;
  const [line = ""] = block.content.split("\n", 1);
  return oneLine(line, descriptionCharsMax, block.key);
}
