/**
 * Reads and changes `MEMORY.md`. Lines that are not entry lines belong to people and are kept unchanged.
 *
 * An entry line begins with `- [name](name.md)`, followed by a space or the line's end: removing `a` affects neither
 * `a-b` nor a description that mentions `(a.md)`.
 *
 * The text is kept whole and split only at one entry's link. Splitting an index of 1,000 entries into lines, checking
 * each line and joining them again takes the guest's engine four times as long.
 */
import { isReserved } from "./entry-name.ts";

const entryLine = /^- \[([a-zA-Z0-9_-]{1,100})\]\(\1\.md\)(?: |\r?$)/;

export class IndexFile {
  /** A byte order mark, if the file begins with one. */
  readonly #mark: string;
  /** The lines, each after a line feed, the first one too. */
  #text: string;

  constructor(text: string) {
    this.#mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    this.#text = `\n${text.slice(this.#mark.length)}`;
  }

  /** Creates an index of entries with distinct names, in their order. */
  static of(entries: readonly { readonly name: string; readonly description: string }[]): IndexFile {
    return new IndexFile(entries.map(({ name, description }) => `${lineOf(name, description)}\n`).join(""));
  }

  /** The names of the listed entries, in order, each once. */
  get names(): string[] {
    return [...new Set(this.#lineNames())];
  }

  /** The listed entries, each with the description in its first line, which can be empty. */
  get entries(): { name: string; description: string }[] {
    const entries = new Map<string, string>();
    for (const line of this.lines) {
      const name = nameOf(line);
      if (name !== null && !entries.has(name)) entries.set(name, saidBehindLink(line, name));
    }
    return [...entries].map(([name, description]) => ({ name, description }));
  }

  /** The names that have more than one line. */
  get repeatedNames(): string[] {
    const once = new Set<string>();
    const repeated = new Set<string>();
    for (const name of this.#lineNames()) (once.has(name) ? repeated : once).add(name);
    return [...repeated];
  }

  /** Returns the description in the entry's first line, or `null`. */
  descriptionOf(name: string): string | null {
    const [rest] = this.#cutAt(name).slice(1).find(isEntryLine)?.split("\n", 1) ?? [];
    if (rest === undefined) return null;
    const [, description] = (linkTo(name) + rest.replace(/\r$/, "")).split(/\) \u2014 (.*)/s);
    return description ?? null;
  }

  has(name: string): boolean {
    return this.#cutAt(name).slice(1).some(isEntryLine);
  }

  /** Replaces the entry's first line in place and drops its other lines. A new entry goes last. */
  set(name: string, description: string): void {
    const line = lineOf(name, description) + this.#carriageReturn;
    const isReplaced = this.#replaceLines(name, (_old, isFirst) => (isFirst ? `\n${line}` : ""));
    if (!isReplaced) this.#text += `${this.#text.endsWith("\n") ? "" : "\n"}${line}\n`;
  }

  /** Adds a new entry's line before that of another. */
  setBefore(other: string, { name, description }: { readonly name: string; readonly description: string }): void {
    const added = `\n${lineOf(name, description)}${this.#carriageReturn}`;
    this.#replaceLines(other, (line, isFirst) => (isFirst ? added + line : line));
  }

  /** Drops all lines of an entry but the first. */
  keepFirst(name: string): void {
    this.#replaceLines(name, (line, isFirst) => (isFirst ? line : ""));
  }

  remove(name: string): void {
    this.#replaceLines(name, () => "");
  }

  /** The lines, without the empty string after the last line feed. */
  get lines(): string[] {
    const lines = this.#text.split("\n").slice(1);
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  }

  toString(): string {
    return this.#mark + this.#text.slice(1);
  }

  #lineNames(): string[] {
    return this.lines.map(nameOf).filter((name) => name !== null);
  }

  /**
   * Splits the text where a line begins with the entry's link. Each piece but the first is the text after such a link.
   */
  #cutAt(name: string): string[] {
    return this.#text.split(`\n${linkTo(name)}`);
  }

  /** Replaces each of an entry's lines by another text or by nothing. Returns whether there was a line. */
  #replaceLines(name: string, replacement: (line: string, isFirst: boolean) => string): boolean {
    const [before = "", ...pieces] = this.#cutAt(name);
    const link = `\n${linkTo(name)}`;
    let isFirst = true;
    let text = before;
    for (const piece of pieces) {
      if (!isEntryLine(piece)) {
        text += link + piece;
        continue;
      }
      const end = piece.indexOf("\n");
      const rest = end < 0 ? piece : piece.slice(0, end);
      text += replacement(link + rest, isFirst) + piece.slice(rest.length);
      isFirst = false;
    }
    this.#text = text;
    return !isFirst;
  }

  /** New lines get the line end that the file has, so a file saved on Windows keeps its form. */
  get #carriageReturn(): string {
    const end = this.#text.indexOf("\n", 1);
    return end > 0 && this.#text[end - 1] === "\r" ? "\r" : "";
  }
}

export function lineOf(name: string, description: string): string {
  return `${linkTo(name)} \u2014 ${description}`;
}

const linkTo = (name: string): string => `- [${name}](${name}.md)`;

/**
 * Returns the text after the link. A line written by hand can have no dash or another one, which is then part of the
 * text.
 */
function saidBehindLink(line: string, name: string): string {
  return line
    .slice(linkTo(name).length)
    .replace(/^ \u2014 /, "")
    .trim();
}

/** Whether the text after an entry's link makes the line an entry line. */
function isEntryLine(rest: string): boolean {
  return rest === "" || rest === "\r" || rest.startsWith(" ") || rest.startsWith("\n") || rest.startsWith("\r\n");
}

/** Returns the name of the entry that a line lists, or `null`. */
export function nameOf(line: string): string | null {
  const name = entryLine.exec(line)?.[1];
  return name === undefined || isReserved(name) ? null : name;
}
