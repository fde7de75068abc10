/**
 * Reads and changes `MEMORY.md`. Lines that list no entry belong to people and are kept unchanged. Of a line that lists
 * one, its place, bullet and title are a person's; what it says of the entry follows the entry's file.
 *
 * The text is kept whole, and only lines that can be about one entry are looked at. Splitting an index of 1,000 entries
 * into lines, checking each line and joining them again takes the guest's engine four times as long.
 */
import { hasReturnsAlone } from "../kit/file-text.ts";
import { entryLineIn, lineOf, linkTo, restOf, saidIn } from "./index-line.ts";
import type { EntryLine } from "./index-line.ts";

/** A line that lists an entry, in the text. */
interface Place {
  readonly line: EntryLine;
  /** Where the line begins, and where its line end does. */
  readonly start: number;
  readonly end: number;
}

export class IndexFile {
  /** Why the file could not be read as a whole, as a clause about it. */
  readonly damage: string | null;
  /** A byte order mark, if the file begins with one. */
  readonly #mark: string;
  /** What ends a line, or is the last character of what does. */
  readonly #break: "\n" | "\r";
  #text: string;
  #isLosing: boolean;

  constructor(text: string, damage: string | null = null) {
    this.#mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    this.#text = text.slice(this.#mark.length);
    this.#break = hasReturnsAlone(text) ? "\r" : "\n";
    this.damage = damage;
    this.#isLosing = damage !== null;
  }

  /** Creates an index of entries with distinct names, in their order. */
  static of(entries: readonly { readonly name: string; readonly description: string }[]): IndexFile {
    const index = new IndexFile("");
    index.add(entries);
    return index;
  }

  /** Whether a change has removed words that no tool wrote. Then the old file belongs into the trash. */
  get isLosing(): boolean {
    return this.#isLosing;
  }

  /** The names of the listed entries, in order, each once. */
  get names(): string[] {
    return [...new Set(this.#lineNames())];
  }

  /** What the first line of each entry says of it, which can be nothing. */
  get said(): ReadonlyMap<string, string> {
    const said = new Map<string, string>();
    for (const line of this.lines) {
      const found = entryLineIn(line);
      if (found !== null && !said.has(found.name)) said.set(found.name, saidIn(found));
    }
    return said;
  }

  /** The names that have more than one line. */
  get repeatedNames(): string[] {
    const once = new Set<string>();
    const repeated = new Set<string>();
    for (const name of this.#lineNames()) (once.has(name) ? repeated : once).add(name);
    return [...repeated];
  }

  /** Returns what the entry's first line says, or `null` if there is none. */
  descriptionOf(name: string): string | null {
    const [first] = this.#placesOf(name);
    return first ? saidIn(first.line) : null;
  }

  has(name: string): boolean {
    return this.#placesOf(name).length > 0;
  }

  /**
   * Writes the description into the entry's first line and drops its other lines. A new entry goes last. `before`: the
   * description that the entry's file had; `null` if it had none.
   */
  set(name: string, description: string, before: string | null = null): void {
    const known = [before, description];
    const places = this.#placesOf(name);
    for (const [at, place] of places.toReversed().entries()) {
      const isFirst = at === places.length - 1;
      this.#noteLoss(place.line, known, isFirst);
      if (isFirst) this.#replace(place, place.line.head + restOf(description));
      else this.#drop(place);
    }
    if (places.length === 0) this.add([{ name, description }]);
  }

  /** Adds lines of entries that have none, as the last. */
  add(entries: readonly { readonly name: string; readonly description: string }[]): void {
    if (entries.length === 0) return;
    const isEnded = this.#text === "" || this.#text.endsWith(this.#break);
    const end = this.#lineEnd;
    this.#text +=
      (isEnded ? "" : end) + entries.map(({ name, description }) => lineOf(name, description) + end).join("");
  }

  /** Adds a new entry's line before that of another. */
  setBefore(other: string, { name, description }: { readonly name: string; readonly description: string }): void {
    const [place] = this.#placesOf(other);
    if (!place) return;
    const added = lineOf(name, description) + this.#lineEnd;
    this.#text = this.#text.slice(0, place.start) + added + this.#text.slice(place.start);
  }

  /** Drops all lines of an entry but the first. */
  keepFirst(name: string): void {
    for (const place of this.#placesOf(name).slice(1).toReversed()) this.#drop(place);
  }

  /** Removes all lines of an entry. `before`: as for `set`. */
  remove(name: string, before: string | null = null): void {
    for (const place of this.#placesOf(name).toReversed()) {
      this.#noteLoss(place.line, [before], false);
      this.#drop(place);
    }
  }

  /** The lines, without their line ends. */
  get lines(): string[] {
    const lines = this.#text.split(this.#break);
    if (lines.at(-1) === "") lines.pop();
    return this.#break === "\n" && this.#text.includes("\r") ? lines.map((line) => line.replace(/\r$/, "")) : lines;
  }

  toString(): string {
    return this.#mark + this.#text;
  }

  #lineNames(): string[] {
    return this.lines.flatMap((line) => entryLineIn(line)?.name ?? []);
  }

  /** The lines that list an entry, in order. */
  #placesOf(name: string): Place[] {
    const places = new Map<number, Place>();
    for (const needle of [`${name}.md`, ...otherForms]) {
      for (let at = this.#text.indexOf(needle); at >= 0; at = this.#text.indexOf(needle, at + 1)) {
        if (needle.length > 2 && nameChar.test(this.#text[at - 1] ?? "")) continue;
        const [start, end] = this.#lineAround(at);
        const line = places.has(start) ? null : entryLineIn(this.#text.slice(start, end));
        if (line?.name === name) places.set(start, { line, start, end });
        at = Math.max(at, end - 1);
      }
    }
    return [...places.values()].toSorted((a, b) => a.start - b.start);
  }

  #lineAround(at: number): [start: number, end: number] {
    const start = this.#text.lastIndexOf(this.#break, at) + 1;
    const next = this.#text.indexOf(this.#break, at);
    const end = next < 0 ? this.#text.length : next;
    return [start, this.#break === "\n" && end > start && this.#text[end - 1] === "\r" ? end - 1 : end];
  }

  #replace({ start, end }: Place, line: string): void {
    this.#text = this.#text.slice(0, start) + line + this.#text.slice(end);
  }

  /** With its line end. The last line can have none: then the line end before it goes. */
  #drop({ start, end }: Place): void {
    const next = this.#text.indexOf(this.#break, end);
    if (next >= 0) this.#text = this.#text.slice(0, start) + this.#text.slice(next + 1);
    else {
      const isReturn = this.#break === "\n" && this.#text[start - 2] === "\r";
      this.#text = this.#text.slice(0, Math.max(0, start - (isReturn ? 2 : 1)));
    }
  }

  /** `isKept`: its title stays. */
  #noteLoss({ name, head, rest }: EntryLine, known: readonly (string | null)[], isKept: boolean): void {
    const isOwn = isKept || head === linkTo(name);
    // If the file has gone or cannot be read, a line in the form of tools says what a tool had written.
    const isKnown = known[0] === null ? head === linkTo(name) : rest.trim() === "" || isAmong(rest, known);
    this.#isLosing ||= !isOwn || !isKnown;
  }

  /** New lines get the line end that the file has, so a file saved on Windows keeps its form. */
  get #lineEnd(): string {
    const end = this.#text.indexOf(this.#break);
    return end > 0 && this.#break === "\n" && this.#text[end - 1] === "\r" ? "\r\n" : this.#break;
  }
}

const isAmong = (rest: string, known: readonly (string | null)[]): boolean =>
  known.some((each) => each !== null && rest.trimEnd() === restOf(each).trimEnd());

const nameChar = /[a-zA-Z0-9_-]/;

/** What a line can have that names an entry otherwise than by its file's name: `[[name]]`, `%64iet.md`, `user\_role.md`. */
const otherForms = ["[[", "%", "\\"];
