import type { ListedFile } from "../../shared/abi.ts";
import { decodedName } from "../../shared/encoded-name.ts";
import { shown, shownBody } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { readAt } from "./at-time.ts";
import { bytesMinOf, BestHits } from "./best-hits.ts";
import type { Hit } from "./best-hits.ts";
import { cutBlocks, portionsOf } from "./cut-blocks.ts";
import type { Portion } from "./cut-blocks.ts";
import { foundNote } from "./found-note.ts";
import type { SearchInput } from "./input.ts";
import { JournalFiles, placesOf } from "./journal-files.ts";
import type { BlockKind } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import { isSurelyOlder } from "./newest-in.ts";
import type { SearchOutput } from "./output.ts";
import { SearchFilter } from "./search-filter.ts";
import { searchWords } from "./search-words.ts";
import { StoredBlock } from "./stored-block.ts";
import { trim } from "./white-space.ts";

/** Returns the best blocks that match a query and tags. If a key has several blocks, each can be a result. */
export function searchEntries({ query, tags, limit, match }: SearchInput): Answer<SearchOutput> {
  const { resultsDefault, resultsMax } = journalLimits;
  const count = Math.min(Math.max(limit ?? resultsDefault, 1), resultsMax);
  if (match === "words" && trim(query) !== "") return searchWords(query, tags ?? [], count);
  const files = new JournalFiles();
  const search = { filter: new SearchFilter(query, tags), best: new BestHits(count), files };
  // Backwards from the end of the last file: the newest blocks are there, so older portions can soon be skipped.
  for (const file of files.of("summary").toReversed()) searchFile(search, file, "summary");
  for (const file of files.of("daily").toReversed()) {
    if (search.best.worst?.kind === "summary") break;
    searchFile(search, file, "daily");
  }
  const { results, leftOut } = search.best.shown();
  const message = `${foundNote(results.length, leftOut)}${files.unreadableNote()}`;
  return { message, data: { success: true, data: { results } }, shows: placesOf(results) };
}

interface Search {
  readonly filter: SearchFilter;
  readonly best: BestHits;
  readonly files: JournalFiles;
}

interface Place {
  readonly path: string;
  readonly kind: BlockKind;
  readonly isAscii: boolean;
}

function searchFile(search: Search, { path, bytes }: ListedFile, kind: BlockKind): void {
  const file = search.files.read(path);
  if (file === null) return;
  // A character outside ASCII takes more UTF-8 bytes than UTF-16 units.
  const isAscii = bytes === file.length;
  for (const portion of portionsOf(file).toReversed()) {
    const { worst } = search.best;
    if (worst?.kind === kind && isSurelyOlder(portion.text, worst.time)) continue;
    if (search.filter.mayBeIn(portion.text, isAscii)) searchPortion(search, portion, { path, kind, isAscii });
  }
}

function searchPortion({ filter, best, files }: Search, portion: Portion, { isAscii, ...place }: Place): void {
  const [, ...texts] = cutBlocks(portion.text);
  files.countCut(texts.length);
  // One less: the portion begins with an extra line end that is not in the file.
  let end = portion.start + portion.text.length - 1;
  for (const text of texts.toReversed()) {
    const start = end - text.length - "### ".length;
    end = start - 1;
    if (!filter.mayBeBlock(text, isAscii)) continue;
    files.countRead();
    const block = new StoredBlock(text);
    if (block.key === "" || !filter.hasTags(block)) continue;
    const rank = { ...place, time: readAt(block.footer.at), start };
    if (best.takes(rank) && (block.isTooLarge || filter.hasText(block))) best.add(rank, hitOf(block, place));
  }
}

function hitOf(block: StoredBlock, { path, kind }: Omit<Place, "isAscii">): Hit {
  if (block.isTooLarge) return { bytesMin: block.length, result: null };
  const { key, content, tags } = block;
  const file = decodedName(path);
  const least = bytesMinOf({ key, content, tags, file, kind });
  if (least > journalLimits.resultsBytesMax) return { bytesMin: least, result: null };
  const result = { key: shown(key), content: shownBody(content), tags: tags.map(shown), file, kind };
  return { bytesMin: bytesMinOf(result), result };
}
