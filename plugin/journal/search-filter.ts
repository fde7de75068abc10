/** Decides what a search finds. A portion is checked as a whole first: most have no match and are never cut. */
import { foldAscii, foldCase } from "../kit/caseless.ts";
import { holds } from "./holds.ts";
import { metaMark, tagsMark } from "./meta-line.ts";
import type { StoredBlock } from "./stored-block.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

export class SearchFilter {
  readonly #query: string;
  /** A match can span lines, which can end differently in a file and in a content. */
  readonly #queryLines: string[];
  readonly #tags: string[];

  constructor(query: string, tags: readonly string[] | null | undefined) {
    this.#query = foldCase(trim(query));
    this.#queryLines = this.#query.split("\n");
    this.#tags = normalTags(tags);
  }

  /** Whether a part of a file can contain a match; only `false` is certain. */
  mayBeIn(text: string, isAscii: boolean): boolean {
    if (!this.#tags.every((tag) => holds(text, tag))) return false;
    if (this.#query === "") return true;
    const folded = isAscii ? foldAscii(text) : foldCase(text);
    return this.#queryLines.every((line) => holds(folded, line));
  }

  /** The same for one block, whose tags come after its text. */
  mayBeBlock(text: string, isAscii: boolean): boolean {
    if (this.#tags.length > 0) {
      const tagsAt = text.indexOf(tagsMark, text.indexOf(metaMark));
      if (tagsAt === -1 || !this.#tags.every((tag) => text.includes(tag, tagsAt + tagsMark.length))) return false;
    }
    return this.#query === "" || this.mayBeIn(text, isAscii);
  }

  hasTags(block: StoredBlock): boolean {
    if (this.#tags.length === 0) return true;
    const { tags } = block;
    return this.#tags.every((tag) => tags.includes(tag));
  }

  hasText({ key, content }: StoredBlock): boolean {
    return this.#query === "" || holds(foldCase(key), this.#query) || holds(foldCase(content), this.#query);
  }
}
