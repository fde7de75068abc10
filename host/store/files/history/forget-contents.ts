/** Removes contents for good: when their owner empties the trash, and when they are too old. */
import { createOverLeftover } from "../../../disk/create-over-leftover.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { giveTurn, inTurns } from "../../../values/turns.ts";
import { parseContent } from "./content-line.ts";
import type { ContentLine } from "./content-line.ts";
import { contentsName } from "./history-folder.ts";
import type { HistoryFolder } from "./history-folder.ts";
import { contentIn } from "./stored-contents.ts";

/** Durable once the folder is flushed. Where there is no room to write a segment again, all of it goes. */
export async function forgetContents(history: HistoryFolder, hashes: ReadonlySet<string>): Promise<void> {
  for (const first of history.segments("contents")) {
    const lines = await inTurns(history.readLines("contents", first));
    const parsed: (ContentLine | null)[] = [];
    for (const line of lines) {
      await giveTurn();
      parsed.push(parseContent(line));
    }
    if (!parsed.some((line) => line !== null && hashes.has(line.sha256))) continue;
    const left: string[] = [];
    for (const [at, line] of parsed.entries()) {
      await giveTurn();
      if (line !== null && !hashes.has(line.sha256)) left.push(...lineAt(lines, line, at));
    }
    await replaceSegment(history, first, left);
  }

  /** Of a content that is told from one that goes, all of it. */
  function lineAt(lines: readonly string[], line: ContentLine, at: number): string[] {
    if (line.like === undefined || !hashes.has(line.like.sha256)) return [lines[at] ?? ""];
    const content = contentIn(lines, line.sha256, at + 1);
    return content === null ? [] : [JSON.stringify({ sha256: line.sha256, base64: content.toString("base64") })];
  }
}

const staged = "contents-staged";

async function replaceSegment(history: HistoryFolder, first: number, lines: readonly string[]): Promise<void> {
  const name = contentsName(first);
  if (lines.length === 0) return history.remove("contents", first);
  try {
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    createOverLeftover(history.folder, staged, { content, shown: name });
    // A power cut must not leave the name with half of it.
    using file = history.folder.openFile(staged, name, "flush");
    await file?.flush();
    history.folder.rename(staged, history.folder, name);
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    history.remove("contents", first);
  }
}
