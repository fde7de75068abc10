/** Where the blocks of a file lie. Each search goes on where the last one ended, so that a file is walked through once. */
import { metaMark } from "./meta-line.ts";
import { isWhiteSpace } from "./white-space.ts";

/** Offsets into the file's text. */
export interface BlockPlace {
  /** Where the heading begins. */
  readonly start: number;
  /** Behind the heading's line. */
  readonly bodyStart: number;
  /** Where the line of meta begins, or what follows a block without one. */
  readonly bodyEnd: number;
  /** Behind the line of meta. The same as `bodyEnd` without one. */
  readonly metaEnd: number;
}

const headingMark = "### ";
const headingLine = `\n${headingMark}`;

export class BlockScanner {
  readonly #text: string;
  /** The next heading; the text's length when there is none. */
  #heading: number;
  /** The next mark of a meta line; the text's length when there is none. */
  #mark: number;

  constructor(text: string) {
    this.#text = text;
    this.#heading = text.startsWith(headingMark) ? 0 : this.#headingFrom(0);
    this.#mark = this.#markFrom(0);
  }

  /** The next block, one with a blank key among them, which is none. `null` behind the last. */
  next(): BlockPlace | null {
    const start = this.#heading;
    if (start >= this.#text.length) return null;
    const end = this.#headingFrom(start + headingMark.length);
    this.#heading = end;
    const bodyStart = Math.min(this.#behindLine(start + headingMark.length), end);
    const bodyEnd = this.#metaStart(bodyStart, end);
    return { start, bodyStart, bodyEnd, metaEnd: bodyEnd === end ? end : Math.min(this.#behindLine(this.#mark), end) };
  }

  /** Where the first line begins that has nothing but white space before the mark. */
  #metaStart(bodyStart: number, end: number): number {
    if (this.#mark < bodyStart) this.#mark = this.#markFrom(bodyStart);
    while (this.#mark < end) {
      let start = this.#mark;
      while (start > bodyStart && this.#isBlankAt(start - 1)) start--;
      if (start === bodyStart || this.#text[start - 1] === "\n") return start;
      this.#mark = this.#markFrom(this.#mark + metaMark.length);
    }
    return end;
  }

  /** White space that does not end a line. */
  #isBlankAt(at: number): boolean {
    const unit = this.#text.charCodeAt(at);
    return unit !== 0x0a && isWhiteSpace(unit);
  }

  #headingFrom(at: number): number {
    const found = this.#text.indexOf(headingLine, at);
    return found === -1 ? this.#text.length : found + 1;
  }

  #markFrom(at: number): number {
    const found = this.#text.indexOf(metaMark, at);
    return found === -1 ? this.#text.length : found;
  }

  #behindLine(at: number): number {
    const found = this.#text.indexOf("\n", at);
    return found === -1 ? this.#text.length : found + 1;
  }
}
