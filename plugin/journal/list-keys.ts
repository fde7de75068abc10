/**
 * Lists every key once, with the first line of its canonical block: first the keys of the summary, then those that only
 * daily files have, each newest first.
 *
 * It leaves out keys after the 1,000th, keys that do not fit into the answer, and keys that only people can write: over
 * 200 characters, or with controls or hidden characters.
 */
import type { ListedFile } from "../../shared/abi.ts";
import type { EntriesOutput } from "../../shared/roles.ts";
import { withinAnswer } from "../kit/entry-list.ts";
import { oneLine } from "../kit/one-line.ts";
import type { Answer } from "../kit/serve-tool.ts";
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
    // Backwards from the end of the last file: the newest blocks are there, so older portions can soon be skipped.
    for (const file of files.of(kind).toReversed()) listFile({ files, newest }, file, kind);
    newest.dropSurplus();
  }
  const listed = newest.list().map(({ key: name, description, path }) => ({ name, description, path }));
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
  // The portion's extra line end makes up for the line end before the heading.
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

/** The first line of the content, or the key if the content is empty or too large. */
function descriptionOf(block: StoredBlock): string {
  if (block.isTooLarge) return block.key;
  const [line = ""] = block.content.split("\n", 1);
  return oneLine(line, descriptionCharsMax, block.key);
}
