/** The search by words: the blocks that have one of the query's words, the best first. */
import type { ListedFile } from "../../shared/abi.ts";
import { decodedName } from "../../shared/encoded-name.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { shown as seenLine, shownBody } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { rankingFor } from "./block-ranking.deferred.ts";
import type { BlockRanking } from "./block-ranking.ts";
import { cutBlocks, headingLine, portionsOf } from "./cut-blocks.ts";
import { foundNote } from "./found-note.ts";
import { JournalFiles, placesOf } from "./journal-files.ts";
import type { BlockKind } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import { metaMark } from "./meta-line.ts";
import type { SearchOutput, SearchResult } from "./output.ts";
import { SearchFilter } from "./search-filter.ts";
import { StoredBlock } from "./stored-block.ts";
import { trim } from "./white-space.ts";

/** Where a block is: from the end of its heading's mark up to the line end before the next heading. */
interface Place {
  readonly path: string;
  readonly kind: BlockKind;
  readonly start: number;
  readonly end: number;
}

interface Search {
  readonly files: JournalFiles;
  readonly ranking: BlockRanking<Place>;
  readonly filter: SearchFilter;
}

export function searchWords(query: string, tags: readonly string[], limit: number): Answer<SearchOutput> {
  const files = new JournalFiles();
  const ranking = rankingFor<Place>(query);
  const filter = new SearchFilter("", tags);
  const shown = ranking ? shownOf({ files, ranking, filter }, limit) : { results: [], leftOut: 0 };
  const message = `${foundNote(shown.results.length, shown.leftOut)}${files.unreadableNote()}`;
  const { results } = shown;
  return { message, data: { success: true, data: { results } }, shows: placesOf(results) };
}

/** Of equal blocks, the summary's come first, and then the newest: those at the end of the last file. */
function shownOf(search: Search, limit: number): { results: SearchResult[]; leftOut: number } {
  for (const kind of ["summary", "daily"] as const) {
    for (const file of search.files.of(kind).toReversed()) rankFile(search, file, kind);
  }
  return bestResults(search, limit);
}

function rankFile({ files, ranking, filter }: Search, { path, bytes }: ListedFile, kind: BlockKind): void {
  if (files.hasNoneOf(path, ranking.beginnings)) return ranking.addUncut(bytes);
  const file = files.read(path);
  if (file === null) return;
  const isAscii = bytes === file.length;
  for (const { start, text } of portionsOf(file).toReversed()) {
    if (ranking.foldedIfFit(text, isAscii) === null) {
      ranking.addOther(text.split(headingLine).length - 1, text.length);
      continue;
    }
    const [, ...blocks] = cutBlocks(text);
    files.countCut(blocks.length);
    // One less: the portion begins with an extra line end that is not in the file.
    let end = start + text.length - 1;
    for (const block of blocks.toReversed()) {
      const place = { path, kind, start: end - block.length, end };
      end = place.start - headingLine.length;
      const folded = filter.mayBeBlock(block, isAscii) ? ranking.foldedIfFit(block, isAscii) : null;
      if (folded === null) {
        ranking.addOther(1, block.length);
        continue;
      }
      files.countRead();
      ranking.add(place, textsOf(folded), block.trimEnd().length);
    }
  }
}

/** Nearly the block's key and content, for a tenth of the time: the escapes of a content are no words. */
function textsOf(block: string): { readonly key: string; readonly value: string } {
  const [line = ""] = block.split("\n", 1);
  const [body = ""] = block.slice(line.length).split(metaMark, 1);
  return { key: line, value: body };
}

/** Reads the best blocks again, because all that were found do not fit into memory. */
function bestResults({ files, filter, ranking }: Search, limit: number): Shown {
  const results: SearchResult[] = [];
  let [bytes, path, file]: [number, string, string | null] = [0, "", null];
  let seen = 0;
  for (const place of ranking.best()) {
    if (results.length === limit) break;
    seen++;
    if (place.path !== path) [path, file] = [place.path, files.read(place.path)];
    const block = new StoredBlock(file?.slice(place.start, place.end) ?? "");
    if (trim(block.key) === "" || block.isTooLarge || !filter.hasTags(block)) continue;
    const { key, content, tags } = block;
    const result = {
      key: seenLine(key),
      content: shownBody(content),
      tags: tags.map(seenLine),
      file: decodedName(place.path),
      kind: place.kind,
    };
    const own = utf8Bytes(JSON.stringify(result)) + ",".length;
    if (own > journalLimits.resultsBytesMax) continue;
    bytes += own;
    if (bytes > journalLimits.resultsBytesMax) {
      return { results, leftOut: Math.min(limit - results.length, ranking.count - seen + 1) };
    }
    results.push(result);
  }
  return { results, leftOut: 0 };
}

interface Shown {
  readonly results: SearchResult[];
  readonly leftOut: number;
}
