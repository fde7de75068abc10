/**
 * Finds the items of a list in JSON that comes in pieces, without reading what is around it: the list is all of the JSON, or a
 * field of it with one of some names.
 */

/** Where a scan is between two pieces. */
export interface ScanPlace {
  readonly stage: "start" | "object" | "items" | "passing" | "end" | "broken";
  /** Whether the list is in an object. */
  readonly isInObject: boolean;
  /** Of a value that is passed over: the brackets that are open, and whether a text is. */
  readonly depth: number;
  readonly isInText: boolean;
  /** What comes after it. */
  readonly behind: "object" | "items";
}

export const scanStart: ScanPlace = { stage: "start", isInObject: false, depth: 0, isInText: false, behind: "items" };

type Scanned =
  | { readonly found: "item"; readonly json: string }
  /** An item that is larger than a piece. */
  | { readonly found: "large" }
  /** The value of a field that is no list of items; `isPlain`: a number or the like, or a text. */
  | { readonly found: "other"; readonly key: string; readonly isPlain: boolean }
  /** What follows can only be read with the next piece. */
  | { readonly found: "cut" }
  | { readonly found: "end" }
  /** A clause about "it". */
  | { readonly found: "wrong"; readonly reason: string };

export class JsonScan {
  readonly #text: string;
  readonly #more: boolean;
  readonly #listKeys: readonly string[];
  #at = 0;
  #place: ScanPlace;

  constructor(
    text: string,
    more: boolean,
    { listKeys, place }: { readonly listKeys: readonly string[]; readonly place: ScanPlace },
  ) {
    this.#text = text;
    this.#more = more;
    this.#listKeys = listKeys;
    this.#place = place;
  }

  /** What is behind: the next piece begins here. */
  get at(): number {
    return this.#at;
  }

  get place(): ScanPlace {
    return this.#place;
  }

  next(): Scanned {
    if (this.#place.stage === "broken") return this.#endBroken();
    if (this.#place.stage === "passing" && !this.#passOver()) return this.#cut(this.#at);
    const start = this.#at;
    this.#at = endOf(/[\s,\ufeff]*/y, this.#text, start);
    const first = this.#text[this.#at];
    if (first === undefined) return this.#place.stage === "end" ? { found: "end" } : this.#cut(this.#at);
    const { stage } = this.#place;
    if (stage === "start") return this.#begin(first);
    if (stage === "object") return this.#field(first);
    return stage === "items" ? this.#item(first, start) : this.#wrong("it has more behind its end");
  }

  #begin(first: string): Scanned {
    if (first !== "[" && first !== "{") return this.#wrong("it is no JSON of a list or an object");
    this.#at++;
    this.#place = { ...this.#place, stage: first === "[" ? "items" : "object" };
    return this.next();
  }

  #field(first: string): Scanned {
    const start = this.#at;
    if (first === "}") return this.#leave("end");
    if (first !== '"') return this.#wrong(`its JSON is wrong at character ${start + 1} of a piece`);
    const keyEnd = textEnd(this.#text, start + 1);
    const valueAt = keyEnd === -1 ? -1 : endOf(/\s*:\s*/y, this.#text, keyEnd);
    const value = this.#text[valueAt];
    if (value === undefined) return this.#cut(start);
    const key = this.#text.slice(start + 1, keyEnd - 1);
    this.#at = valueAt;
    if (value === "[" && this.#listKeys.includes(key)) {
      this.#at++;
      this.#place = { ...this.#place, stage: "items", isInObject: true };
      return this.next();
    }
    const isPlain = value !== "[" && value !== "{";
    if (!isPlain || value === '"') {
      this.#place = { ...this.#place, stage: "passing", depth: 0, isInText: false, behind: "object" };
    } else {
      this.#at = endOf(/[^,}\]\s]*/y, this.#text, valueAt);
      if (this.#at === this.#text.length && this.#more) return this.#cut(start);
    }
    return { found: "other", key, isPlain };
  }

  #item(first: string, start: number): Scanned {
    const itemAt = this.#at;
    if (first === "]") return this.#leave(this.#place.isInObject ? "object" : "end");
    if (first === "}" || first === ":") return this.#wrong("its list of memories is no JSON");
    const before = this.#place;
    if (first === '"' || first === "{" || first === "[") {
      this.#place = { ...before, stage: "passing", depth: 0, isInText: false, behind: "items" };
      if (!this.#passOver()) {
        if (start === 0 && this.#more) return { found: "large" };
        this.#place = before;
        return this.#cut(itemAt);
      }
    } else {
      this.#at = endOf(/[^,}\]\s]*/y, this.#text, itemAt);
      if (this.#at === this.#text.length && this.#more) return this.#cut(itemAt);
    }
    return { found: "item", json: this.#text.slice(itemAt, this.#at) };
  }

  #leave(stage: "object" | "end"): Scanned {
    this.#at++;
    this.#place = { ...this.#place, stage };
    return this.next();
  }

  /** Nothing is lost at the end of the file but what is not whole. */
  #cut(at: number): Scanned {
    this.#at = at;
    return this.#more ? { found: "cut" } : this.#wrong("its JSON breaks off");
  }

  /** What follows is not read, in this piece or in others. */
  #wrong(reason: string): Scanned {
    this.#place = { ...this.#place, stage: "broken" };
    this.#endBroken();
    return { found: "wrong", reason };
  }

  #endBroken(): Scanned {
    this.#at = this.#text.length;
    return { found: "end" };
  }

  /** Goes to the end of the value that is passed over, or of the piece. Returns whether the value has ended. */
  #passOver(): boolean {
    let { depth, isInText } = this.#place;
    do {
      const mark = isInText ? textEnd(this.#text, this.#at) - 1 : nextMark(this.#text, this.#at);
      if (mark < 0) {
        this.#at = isInText ? beforeEscape(this.#text) : this.#text.length;
        this.#place = { ...this.#place, depth, isInText };
        return false;
      }
      this.#at = mark + 1;
      const character = this.#text[mark] ?? "";
      if (character === '"') isInText = !isInText;
      else depth += "[{".includes(character) ? 1 : -1;
    } while (isInText || depth > 0);
    this.#place = { ...this.#place, stage: this.#place.behind };
    return true;
  }
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function nextMark(text: string, at: number): number {
  const marks = /["{}[\]]/g;
  marks.lastIndex = at;
  return marks.exec(text)?.index ?? -1;
}

/** The place behind the quotation mark that ends a text; -1 if there is none. */
function textEnd(text: string, at: number): number {
  let mark = text.indexOf('"', at);
  while (mark !== -1 && escapesBefore(text, mark, at) % 2 === 1) mark = text.indexOf('"', mark + 1);
  return mark === -1 ? -1 : mark + 1;
}

function escapesBefore(text: string, end: number, start: number): number {
  let at = end;
  while (at > start && text[at - 1] === "\\") at--;
  return end - at;
}

/** The end of a piece, but before a mark that escapes the first character of the next one. */
const beforeEscape = (text: string): number => text.length - (escapesBefore(text, text.length, 0) % 2);
