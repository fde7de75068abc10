/** Removes contents for good, when their owner empties the trash. */
import { createOverLeftover } from "../../../disk/create-over-leftover.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { placeKey } from "../../versions/present-origins.ts";
import type { PresentOrigins } from "../../versions/present-origins.ts";
import type { Version } from "../../versions/version.ts";
import { parseContent } from "./content-line.ts";
import type { ContentLine } from "./content-line.ts";
import { contentsName } from "./history-folder.ts";
import type { HistoryFolder } from "./history-folder.ts";
import { contentIn } from "./stored-contents.ts";

interface Place {
  readonly scope: string;
  readonly path: string;
}

/**
 * The hashes of everything that files have held, also under the names that they had before they came into the trash, and
 * of what was written together with them, such as an index that repeats a line of theirs; without what present files hold.
 */
export function contentsOfPurged(
  versions: readonly Version[],
  gone: readonly Place[],
  present: PresentOrigins,
): Set<string> {
  const wanted = new Set(gone.map(placeKey));
  const found = new Set<string>();
  /** Files that were written together with them, since they came into being. */
  const companions = new Set<string>();
  for (const { files, kind } of versions.toReversed()) {
    const isTheirs = files.map((file) => isOfLineage(file, wanted));
    const isTogether = isTheirs.includes(true) && kind !== "imported";
    for (const [at, file] of files.entries()) {
      if (isTogether && !isTheirs[at]) companions.add(placeKey(file));
      if (!isTheirs[at] && !companions.has(placeKey(file))) continue;
      for (const each of [file.sha256, file.before]) if (each !== null) found.add(each);
    }
    if (wanted.size === 0) break;
  }
  for (const [, { sha256 }] of present.entries()) found.delete(sha256);
  return found;
}

/** Whether a file is one of those that are wanted. From then on, its name before is wanted, and none once it is made. */
function isOfLineage({ scope, path, from, before }: Version["files"][number], wanted: Set<string>): boolean {
  const key = placeKey({ scope, path });
  if (!wanted.has(key)) return false;
  if (from !== undefined) wanted.add(placeKey({ scope, path: from }));
  // Here it came into being. What had its name before was another file.
  if (before === null) wanted.delete(key);
  return true;
}

/** Durable once the folder is flushed. Where there is no room to write a segment again, all of it goes. */
export function forgetContents(history: HistoryFolder, hashes: ReadonlySet<string>): void {
  for (const first of history.segments("contents")) {
    const lines = history.lines("contents", first);
    const parsed = lines.map(parseContent);
    if (!parsed.some((line) => line !== null && hashes.has(line.sha256))) continue;
    const left = parsed.flatMap((line, at) =>
      line === null || hashes.has(line.sha256) ? [] : lineAt(lines, line, at),
    );
    replaceSegment(history, first, left);
  }

  /** Of a content that is told from one that goes, all of it. */
  function lineAt(lines: readonly string[], line: ContentLine, at: number): string[] {
    if (line.like === undefined || !hashes.has(line.like.sha256)) return [lines[at] ?? ""];
    const content = contentIn(lines, line.sha256, at + 1);
    return content === null ? [] : [JSON.stringify({ sha256: line.sha256, base64: content.toString("base64") })];
  }
}

const staged = "contents-staged";

function replaceSegment(history: HistoryFolder, first: number, lines: readonly string[]): void {
  const name = contentsName(first);
  try {
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    createOverLeftover(history.folder, staged, { content, shown: name });
    history.folder.rename(staged, history.folder, name);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "STORAGE_FULL") throw error;
    history.remove("contents", first);
  }
}
