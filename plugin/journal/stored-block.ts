/** A block of a file, parsed on demand: most blocks are needed only in part. */
import { unescapeContent } from "./escape.ts";
import { journalLimits } from "./journal-limits.ts";
import { withoutReturns } from "./line-ends.ts";
import { parseMemcellLine } from "./memcell-line.ts";
import { metaMark, parseMeta, splitTags } from "./meta-line.ts";
import { trim } from "./white-space.ts";

/** The lines after a block's content. */
export interface Footer {
  /** When it was written, as in the file; empty without a meta line. */
  readonly at: string;
  /** Its tags as in the file, for `splitTags`. */
  readonly tags: string;
  /** When it was first written; `null` if the block does not say it. */
  readonly created: string | null;
  readonly isEscaped: boolean;
  /** The offset after the block's last line. */
  readonly end: number;
}

export class StoredBlock {
  /** Empty if the heading begins no block. */
  readonly key: string;
  /** From the end of the heading's mark up to the line end before the next heading. */
  readonly #text: string;
  readonly #bodyStart: number;
  #meta: { start: number; end: number } | undefined;
  #footer: Footer | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#bodyStart = behindLine(text, 0);
    this.key = trim(text.slice(0, this.#bodyStart));
  }

  get footer(): Footer {
    return (this.#footer ??= this.#readFooter());
  }

  /**
   * The content as written, without what agentool's format does not keep: CR before LF, and white space at its ends.
   */
  get content(): string {
    const body = this.#text.slice(this.#bodyStart, this.#metaLine.start);
    const lines = withoutReturns(body);
    return trim(this.footer.isEscaped ? unescapeContent(lines) : lines);
  }

  /** Whether no answer has room for the content. Callers must not read it then: parsing it could exceed the memory. */
  get isTooLarge(): boolean {
    return this.#text.length > journalLimits.blockCharsMax;
  }

  /** UTF-16 units, including the footer. */
  get length(): number {
    return this.#text.length;
  }

  get tags(): string[] {
    return splitTags(this.footer.tags);
  }

  #readFooter(): Footer {
    const { start, end } = this.#metaLine;
    const meta = start === end ? null : parseMeta(this.#text.slice(start, end));
    if (meta === null) return { at: "", tags: "", created: null, isEscaped: false, end: this.#endWithoutMeta(end) };
    const lineEnd = behindLine(this.#text, end);
    const line = parseMemcellLine(this.#text.slice(end, lineEnd));
    if (line === null) return { ...meta, created: null, isEscaped: false, end };
    return { ...meta, ...line, end: lineEnd };
  }

  /** If a block has no content, only the heading's line belongs to it, as in agentool. */
  #endWithoutMeta(end: number): number {
    const isBare = this.#metaLine.start === end && trim(this.#text.slice(this.#bodyStart)) === "";
    return isBare ? this.#bodyStart : end;
  }

  /** The first line that begins like a meta line; if there is none, an empty range at the text's end. */
  get #metaLine(): { start: number; end: number } {
    return (this.#meta ??= this.#findMetaLine());
  }

  /** Checks each line once, at its first mark: a later mark cannot begin the line. */
  #findMetaLine(): { start: number; end: number } {
    const text = this.#text;
    let end = this.#bodyStart;
    for (let mark = text.indexOf(metaMark, end); mark !== -1; mark = text.indexOf(metaMark, end)) {
      const start = Math.max(text.lastIndexOf("\n", mark) + 1, this.#bodyStart);
      end = behindLine(text, mark);
      if (start === mark || trim(text.slice(start, mark)) === "") return { start, end };
    }
    return { start: text.length, end: text.length };
  }
}

function behindLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end + 1;
}
