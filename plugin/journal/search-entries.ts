import { utf8Bytes } from "../../shared/text.ts";
import type { Answer } from "../serve-tool.ts";
import { compareTimes, readAt } from "./at-time.ts";
import type { PointInTime } from "./at-time.ts";
import { foldCase } from "./caseless.ts";
import type { SearchInput } from "./input.ts";
import { JournalFiles } from "./journal-files.ts";
import type { BlockKind } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import type { SearchOutput, SearchResult } from "./output.ts";
import { contentAt, footerAt, keyAt, placesIn } from "./parse-blocks.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

interface Hit {
  readonly time: PointInTime;
  readonly result: SearchResult;
}

export function searchEntries(input: SearchInput): Answer<SearchOutput> {
  const limit = Math.min(Math.max(input.limit ?? journalLimits.resultsDefault, 1), journalLimits.resultsMax);
  const query = foldCase(trim(input.query));
  const tags = normalTags(input.tags);
  const files = new JournalFiles();
  const hits = [...hitsIn("summary", files, query, tags), ...hitsIn("daily", files, query, tags)];
  const best = hits.slice(0, limit).map(({ result }) => result);
  const results = withinAnswer(best);
  const left = best.length - results.length;
  const note = left === 0 ? "" : `; ${left} left out, which the answer has no room for`;
  return {
    message: `${results.length} results${note}${files.unreadableNote()}`,
    data: { success: true, data: { results } },
  };
}

function hitsIn(kind: BlockKind, files: JournalFiles, query: string, tags: string[]): Hit[] {
  const hits: Hit[] = [];
  for (const path of files.paths(kind)) {
    const text = files.read(path);
    if (text === null) continue;
    for (const place of placesIn(text)) {
      const footer = footerAt(text, place);
      if (!tags.every((tag) => footer.tags.includes(tag))) continue;
      const [key, content] = [keyAt(text, place), contentAt(text, place, footer.isEscaped)];
      if (!foldCase(key).includes(query) && !foldCase(content).includes(query)) continue;
      hits.push({ time: readAt(footer.at), result: { key, content, tags: footer.tags, file: path, kind } });
    }
  }
  return hits.toSorted((a, b) => compareTimes(b.time, a.time));
}

function withinAnswer(results: SearchResult[]): SearchResult[] {
  let bytes = 0;
  const end = results.findIndex((result) => {
    bytes += utf8Bytes(JSON.stringify(result)) + 1;
    return bytes > journalLimits.resultsBytesMax;
  });
  return end === -1 ? results : results.slice(0, end);
}
