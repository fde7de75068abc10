/**
 * `MEMORY.md`, line by line. A line that is no entry line belongs to people and is kept as it is.
 *
 * Entry lines are matched from their start, `- [name](name.md)` and then a space or the end: removing `a` touches
 * neither `a-b` nor a description that mentions `(a.md)`.
 */
import { entryNameAt } from "./entry-name.ts";

const entryLine = /^- \[([a-zA-Z0-9_-]{1,100})\]\(([a-zA-Z0-9_-]{1,100}\.md)\)(?: |\r?$)/;

export class IndexFile {
  /** A byte order mark, if the file begins with one. */
  readonly #mark: string;
  /** Split at line feeds; the last piece is what follows the last one. */
  #lines: string[];

  constructor(text: string) {
    this.#mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    this.#lines = text.slice(this.#mark.length).split("\n");
  }

  /** An index of entries with distinct names, in their order. */
  static of(entries: readonly { readonly name: string; readonly description: string }[]): IndexFile {
    return new IndexFile(entries.map(({ name, description }) => `${lineOf(name, description)}\n`).join(""));
  }

  /** The entries that have a line, in order, each once. */
  get names(): string[] {
    return [...new Set(this.#lines.map(nameOf).filter((name) => name !== null))];
  }

  /** What the entry's first line says of it, or `null`. */
  descriptionOf(name: string): string | null {
    const link = linkTo(name);
    const line = this.#lines.find((each) => isLineWith(link, each));
    const [, description] = line?.replace(/\r$/, "").split(/\) \u2014 (.*)/s) ?? [];
    return description ?? null;
  }

  /** The entries that have more than one line. */
  get repeatedNames(): string[] {
    const names = this.#lines.map(nameOf).filter((name) => name !== null);
    return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
  }

  has(name: string): boolean {
    const link = linkTo(name);
    return this.#lines.some((line) => isLineWith(link, line));
  }

  /** Replaces the entry's line where it stands, and drops further ones of the same name; a new entry goes last. */
  set(name: string, description: string): void {
    const line = lineOf(name, description) + this.#carriageReturn;
    const link = linkTo(name);
    const place = this.#lines.findIndex((each) => isLineWith(link, each));
    if (place < 0) return this.#append(line);
    this.keepFirst(name);
    this.#lines[place] = line;
  }

  /** Drops all lines of an entry but the first. */
  keepFirst(name: string): void {
    const link = linkTo(name);
    const place = this.#lines.findIndex((each) => isLineWith(link, each));
    this.#lines = this.#lines.filter((each, at) => at <= place || !isLineWith(link, each));
  }

  remove(name: string): void {
    const link = linkTo(name);
    this.#lines = this.#lines.filter((line) => !isLineWith(link, line));
  }

  /** The lines without the empty piece behind the last line feed. */
  get lines(): string[] {
    return this.#lines.at(-1) === "" ? this.#lines.slice(0, -1) : this.#lines;
  }

  toString(): string {
    return this.#mark + this.#lines.join("\n");
  }

  #append(line: string): void {
    if (this.#lines.at(-1) === "") this.#lines.splice(-1, 0, line);
    else this.#lines.push(line, "");
  }

  /** A file that an editor on Windows saved stays in that form. */
  get #carriageReturn(): string {
    return this.#lines.length > 1 && this.#lines[0]?.endsWith("\r") ? "\r" : "";
  }
}

function lineOf(name: string, description: string): string {
  return `${linkTo(name)} \u2014 ${description}`;
}

const linkTo = (name: string): string => `- [${name}](${name}.md)`;

/** Whether `nameOf` gives the linked entry's name: the same question, much cheaper for one name and many lines. */
function isLineWith(link: string, line: string): boolean {
  if (!line.startsWith(link)) return false;
  const rest = line.slice(link.length);
  return rest === "" || rest === "\r" || rest.startsWith(" ");
}

/** The entry that a line stands for, or `null`. */
export function nameOf(line: string): string | null {
  const [, name, path] = entryLine.exec(line) ?? [];
  return name !== undefined && path === `${name}.md` ? entryNameAt(path) : null;
}
