/** Which of the blocks with one key is the one that counts. */
import { compareTimes, readAt } from "./at-time.ts";
import type { BlockPlace } from "./block-scanner.ts";
import type { BlockKind, JournalFiles } from "./journal-files.ts";
import { footerAt, keyAt, placesIn } from "./parse-blocks.ts";
import type { Footer } from "./parse-blocks.ts";

export interface FoundBlock {
  readonly path: string;
  readonly kind: BlockKind;
  /** The text of the whole file. */
  readonly file: string;
  readonly place: BlockPlace;
  readonly footer: Footer;
}

/** The newest of the summary; without one there, the newest of the daily files. */
export function findCanonical(files: JournalFiles, key: string): FoundBlock | null {
  return newestOf("summary", files, key) ?? newestOf("daily", files, key);
}

/** Of blocks of one time, the one with the greater path, and of one file, the later. */
function newestOf(kind: BlockKind, files: JournalFiles, key: string): FoundBlock | null {
  let newest: FoundBlock | null = null;
  for (const path of files.paths(kind)) {
    const file = files.read(path);
    if (file === null) continue;
    for (const place of placesOfKey(file, key)) {
      const footer = footerAt(file, place);
      if (newest !== null && compareTimes(readAt(footer.at), readAt(newest.footer.at)) < 0) continue;
      newest = { path, kind, file, place, footer };
    }
  }
  return newest;
}

/** Whether any file has a block with this key. */
export function hasKey(files: JournalFiles, key: string): boolean {
  for (const kind of ["summary", "daily"] as const) {
    for (const path of files.paths(kind)) {
      const file = files.read(path);
      if (file !== null && placesOfKey(file, key).length > 0) return true;
    }
  }
  return false;
}

function placesOfKey(file: string, key: string): BlockPlace[] {
  return file.includes(key) ? placesIn(file).filter((place) => keyAt(file, place) === key) : [];
}
