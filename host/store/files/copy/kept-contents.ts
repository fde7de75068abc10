import type { Directory } from "../../../disk/directory.ts";
import type { KeptContent } from "../../copying.ts";
import { HistoryFolder } from "../history/history-folder.ts";
import { contentsOfSegment } from "../history/segment-contents.ts";

/** The contents that a history keeps, and where: the number of a segment, by hash. */
export class KeptContents {
  readonly list: readonly KeptContent[];
  readonly #segments = new Map<string, number>();

  /** Reads all of them. No version may wait in the WAL. */
  constructor(own: Directory | null) {
    using history = own && HistoryFolder.open(own);
    const list: KeptContent[] = [];
    for (const first of history?.segments("contents") ?? []) {
      for (const { sha256, content } of contentsOfSegment(history?.lines("contents", first) ?? [])) {
        if (!this.#segments.has(sha256)) list.push({ sha256, bytes: content.length });
        this.#segments.set(sha256, first);
      }
    }
    this.list = list;
  }

  /** Those of the hashes that the history keeps. Reads each segment once. */
  read(own: Directory, hashes: Iterable<string>): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    const wanted = new Set(hashes);
    const segments = new Set(Array.from(wanted, (sha256) => this.#segments.get(sha256)));
    using history = HistoryFolder.open(own);
    for (const first of segments) {
      if (first === undefined || history === null) continue;
      for (const { sha256, content } of contentsOfSegment(history.lines("contents", first))) {
        if (wanted.has(sha256)) found.set(sha256, content);
      }
    }
    return found;
  }
}
