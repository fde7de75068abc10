/**
 * Reads and changes `MEMORY.md`. Lines that list no entry belong to people and are kept unchanged. Of a line that lists
 * one, its place, bullet and title are a person's; what it says of the entry follows the entry's file.
 *
 * The text is kept whole, and only lines that can be about one entry are looked at. Splitting an index of 1,000 entries
 * into lines, checking each line and joining them again takes the guest's engine four times as long.
 */
import { hasReturnsAlone } from "../kit/file-text.ts";
import { entryNameAt } from "./entry-name.ts";
import { entryLineIn, isOwnLink, isSurely, lineOf, nameIn, restOf, saidIn } from "./index-line.ts";
import type { EntryLine, Linked } from "./index-line.ts";

/** An entry as its line has it. */
export interface ListedEntry extends Linked {
  readonly description: string;
}

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
  /** What each line lists, of the text that has the lines. */
  #found: { readonly text: string; readonly lines: readonly (EntryLine | null)[] } | null = null;
  #isLosing: boolean;

  constructor(text: string, damage: string | null = null) {
    this.#mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    this.#text = text.slice(this.#mark.length);
    this.#break = hasReturnsAlone(text) ? "\r" : "\n";
    this.damage = damage;
    this.#isLosing = damage !== null;
  }

  /** Creates an index of entries with distinct names, in their order. */
  static of(entries: readonly ListedEntry[]): IndexFile {
    const index = new IndexFile("");
    index.add(entries);
    return index;
  }

  /** Whether a change has removed words that no tool wrote. Then the old file belongs into the trash. */
  get isLosing(): boolean {
    return this.#isLosing;
  }

  /** The first line of each entry by its path, in order. */
  get listed(): ReadonlyMap<string, EntryLine> {
    const listed = new Map<string, EntryLine>();
    for (const line of this.#entryLines()) if (!listed.has(line.path)) listed.set(line.path, line);
    return listed;
  }

  /** By path, what the first line of each entry says of it, which can be nothing. */
  get said(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.listed, ([path, line]) => [path, saidIn(line)]));
  }

  /** By path, the titles of first lines that could be names. */
  get titles(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.listed).flatMap(([path, { title }]) => (title === null ? [] : [[path, title]])));
  }

  /** The paths that have more than one line. */
  get repeated(): string[] {
    const once = new Set<string>();
    const repeated = new Set<string>();
    for (const { path } of this.#entryLines()) (once.has(path) ? repeated : once).add(path);
    return [...repeated];
  }

  /** The path in a line of an entry with this name whose file is gone; `null` if there is none. */
  pathOfLine(name: string): string | null {
    const line = Array.from(this.listed.values()).find((each) => isSurely(each) && nameIn(each) === name);
    return line?.path ?? null;
  }

  has(path: string): boolean {
    return this.#placesOf(path).length > 0;
  }

  /**
   * Writes the description into the entry's first line and drops its other lines. A new entry goes last. `before`: the
   * description that the entry's file had; `null` if it had none.
   */
  set(entry: ListedEntry, before: string | null = null): void {
    const { description } = entry;
    const known = [before, description];
    const places = this.#placesOf(entry.path);
    for (const [at, place] of places.toReversed().entries()) {
      const isFirst = at === places.length - 1;
      this.#noteLoss(place.line, known, isFirst);
      if (isFirst) this.#replace(place, place.line.head + restOf(description));
      else this.#drop(place);
    }
    if (places.length === 0) this.add([entry]);
  }

  /** Adds lines of entries that have none, as the last. */
  add(entries: readonly ListedEntry[]): void {
    if (entries.length === 0) return;
    const isEnded = this.#text === "" || this.#text.endsWith(this.#break);
    const end = this.#lineEnd;
    this.#text += (isEnded ? "" : end) + entries.map((entry) => lineOf(entry) + end).join("");
  }

  /** Adds a new entry's line before that of another path. */
  setBefore(other: string, entry: ListedEntry): void {
    const [place] = this.#placesOf(other);
    if (!place) return;
    const added = lineOf(entry) + this.#lineEnd;
    this.#text = this.#text.slice(0, place.start) + added + this.#text.slice(place.start);
  }

  /** Removes all lines of some entries, and all lines but the first of any other. Of one entry, `remove` is faster. */
  keepFirst(without: ReadonlySet<string>): void {
    const texts = this.#text.split(this.#break);
    const seen = new Set<string>();
    const isKept = (line: EntryLine | null): boolean => {
      if (line === null) return true;
      if (without.has(line.path)) return false;
      return seen.size < seen.add(line.path).size;
    };
    const found = this.#linesFound();
    const kept = texts.map((_, at) => isKept(found[at] ?? null));
    if (kept.every(Boolean)) return;
    for (const line of found) if (line !== null && without.has(line.path)) this.#noteLoss(line, [null], false);
    const text = texts.filter((_, at) => kept[at]).join(this.#break);
    // The last line can have no line end: then the line end before it goes.
    this.#text = this.#break === "\n" && kept.at(-1) === false ? text.replace(/\r$/, "") : text;
    this.#found = { text: this.#text, lines: found.filter((_, at) => kept[at]) };
  }

  /** Removes all lines of an entry. `before`: as for `set`. */
  remove(path: string, before: string | null = null): void {
    for (const place of this.#placesOf(path).toReversed()) {
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

  #entryLines(): EntryLine[] {
    return this.#linesFound().filter((line) => line !== null);
  }

  /** To look at each line takes as long as to read some files, and several questions are asked of one text. */
  #linesFound(): readonly (EntryLine | null)[] {
    if (this.#found?.text !== this.#text) this.#found = { text: this.#text, lines: this.lines.map(entryLineIn) };
    return this.#found.lines;
  }

  /** The lines that list an entry, in order. */
  #placesOf(path: string): Place[] {
    const places = new Map<number, Place>();
    // People can write other paths in many ways.
    const needles = entryNameAt(path) === null ? ["](", "[["] : [path, ...otherForms];
    for (const needle of needles) {
      for (let at = this.#text.indexOf(needle); at >= 0; at = this.#text.indexOf(needle, at + 1)) {
        if (needle.length > 2 && nameChar.test(this.#text[at - 1] ?? "")) continue;
        const [start, end] = this.#lineAround(at);
        const line = places.has(start) ? null : entryLineIn(this.#text.slice(start, end));
        if (line?.path === path) places.set(start, { line, start, end });
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
  #noteLoss(line: EntryLine, known: readonly (string | null)[], isKept: boolean): void {
    const { rest } = line;
    const isOwn = isKept || isOwnLink(line);
    // If the file has gone or cannot be read, a line in the form of tools says what a tool had written.
    const isKnown = known[0] === null ? isOwnLink(line) : rest.trim() === "" || isAmong(rest, known);
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
