/** What a block says. Parts are read when they are asked for: most blocks are only looked at. */
import { unescapeContent } from "./escape.ts";
import { journalLimits } from "./journal-limits.ts";
import { withoutReturns } from "./line-ends.ts";
import { parseMemcellLine } from "./memcell-line.ts";
import { metaMark, parseMeta, splitTags } from "./meta-line.ts";
import { trim } from "./white-space.ts";

/** What stands below a block's content. */
export interface Footer {
  /** When it was written, as the file has it; empty without a line of meta. */
  readonly at: string;
  /** Its tags as the file has them, for `splitTags`. */
  readonly tags: string;
  /** When it was first written, where the block says it. */
  readonly created: string | null;
  readonly isEscaped: boolean;
  /** Behind the last line that belongs to the block. */
  readonly end: number;
}

export class StoredBlock {
  /** Empty for a heading that begins no block. */
  readonly key: string;
  /** From behind the heading's mark on, up to the next heading or its line end. */
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

  /** As it was written, but for what agentool's form does not keep: CR before LF, and white space around it. */
  get content(): string {
    const body = this.#text.slice(this.#bodyStart, this.#metaLine.start);
    const lines = withoutReturns(body);
    return trim(this.footer.isEscaped ? unescapeContent(lines) : lines);
  }

  /** Its content is not to be asked for: no answer has room for it, and taking it apart takes more memory than there is. */
  get isTooLarge(): boolean {
    return this.#text.length > journalLimits.blockCharsMax;
  }

  /** Its UTF-16 units, those of its footer among them. */
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

  /** Of a block without content only the heading's line belongs to it, as agentool sees it. */
  #endWithoutMeta(end: number): number {
    const isBare = this.#metaLine.start === end && trim(this.#text.slice(this.#bodyStart)) === "";
    return isBare ? this.#bodyStart : end;
  }

  /** The first line that begins as a line of meta; at the text's end, and empty, when there is none. */
  get #metaLine(): { start: number; end: number } {
    return (this.#meta ??= this.#findMetaLine());
  }

  /** Each line is looked at once, at its first mark: behind that one, no other begins a line. */
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
