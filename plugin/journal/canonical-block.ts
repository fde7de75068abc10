/** Finds the canonical block among the blocks with a key. */
import { meantBy } from "../kit/hidden-text.ts";
import { compareTimes, readAt } from "./at-time.ts";
import { cutBlocks, headingLine, portionsOf } from "./cut-blocks.ts";
import { holds } from "./holds.ts";
import type { BlockKind, JournalFiles } from "./journal-files.ts";
import { StoredBlock } from "./stored-block.ts";
import { isWhiteSpace } from "./white-space.ts";

export interface FoundBlock {
  readonly path: string;
  readonly kind: BlockKind;
  /** The text of the whole file. */
  readonly file: string;
  /** Where its heading begins. */
  readonly start: number;
  readonly block: StoredBlock;
}

/** Returns the newest block of the summary, or else the newest of the daily files. */
export function findCanonical(files: JournalFiles, key: string): FoundBlock | null {
  const found = newestOf("summary", files, key) ?? newestOf("daily", files, key);
  const meant = found === null ? meantBy(key) : null;
  return meant === null ? found : findCanonical(files, meant);
}

/** Of blocks with the same time, the one with the greater path wins; within a file, the later one. */
function newestOf(kind: BlockKind, files: JournalFiles, key: string): FoundBlock | null {
  let newest: FoundBlock | null = null;
  let newestTime = readAt("");
  for (const { path } of files.of(kind)) {
    const file = files.read(path);
    if (file === null) continue;
    for (const { start, block } of blocksOfKey(file, key, files)) {
      const time = readAt(block.footer.at);
      if (newest && compareTimes(time, newestTime) < 0) continue;
      newest = { path, kind, file, start, block };
      newestTime = time;
    }
  }
  return newest;
}

/** Whether any file has a block with this key. */
export function hasKey(files: JournalFiles, key: string): boolean {
  for (const { path } of [...files.of("summary"), ...files.of("daily")]) {
    const file = files.read(path);
    if (file !== null && !blocksOfKey(file, key, files).next().done) return true;
  }
  return false;
}

function* blocksOfKey(
  file: string,
  key: string,
  files: JournalFiles,
): Generator<{ start: number; block: StoredBlock }> {
  const forms = formsOf(key);
  for (const portion of portionsOf(file)) {
    if (!forms.some((form) => holds(portion.text, form))) continue;
    const [before = "", ...texts] = cutBlocks(portion.text);
    files.countCut(texts.length);
    let start = portion.start + before.length;
    for (const text of texts) {
      if (forms.some((form) => mayHaveKey(text, form))) {
        files.countRead();
        const block = new StoredBlock(text);
        if (forms.includes(block.key)) yield { start, block };
      }
      start += headingLine.length + text.length;
    }
  }
}

/** A key in the forms of Unicode that editors write: they look the same. */
function formsOf(key: string): readonly string[] {
  const [composed, decomposed] = [key.normalize("NFC"), key.normalize("NFD")];
  return composed === decomposed ? [key] : [composed, decomposed];
}

/** Checks the first character, which excludes most blocks without parsing them. Only `false` is certain. */
function mayHaveKey(text: string, key: string): boolean {
  const first = text.charCodeAt(0);
  return first === key.charCodeAt(0) || isWhiteSpace(first);
}
