/** The index as one text, compared with the same index as a list of lines. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { IndexFile, nameOf } from "../../plugin/user-memory/index-file.ts";

/** The plainest implementation of `IndexFile`: it checks every line. */
class IndexLines {
  readonly #mark: string;
  #lines: string[];

  constructor(text: string) {
    this.#mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    this.#lines = text.slice(this.#mark.length).split("\n");
  }

  get names(): (string | null)[] {
    return this.#lines.map(nameOf).filter((each) => each !== null);
  }

  descriptionOf(entry: string): string | null {
    const line = this.#lines.find((each) => nameOf(each) === entry);
    return line?.replace(/\r$/, "").split(/\) \u2014 (.*)/s)[1] ?? null;
  }

  saidOf(entry: string): string {
    const line = this.#lines.find((each) => nameOf(each) === entry) ?? "";
    const said = line.slice(`- [${entry}](${entry}.md)`.length);
    return (said.startsWith(" \u2014 ") ? said.slice(3) : said).trim();
  }

  set(entry: string, description: string): void {
    const mark = this.#lines.length > 1 && this.#lines[0]?.endsWith("\r") ? "\r" : "";
    const line = `- [${entry}](${entry}.md) \u2014 ${description}${mark}`;
    const place = this.#lines.findIndex((each) => nameOf(each) === entry);
    if (place >= 0) {
      this.keepFirst(entry);
      this.#lines[place] = line;
    } else if (this.#lines.at(-1) === "") this.#lines.splice(-1, 0, line);
    else this.#lines.push(line, "");
  }

  keepFirst(entry: string): void {
    const place = this.#lines.findIndex((each) => nameOf(each) === entry);
    this.#lines = this.#lines.filter((each, at) => at <= place || nameOf(each) !== entry);
  }

  remove(entry: string): void {
    this.#lines = this.#lines.filter((each) => nameOf(each) !== entry);
  }

  toString(): string {
    return this.#mark + this.#lines.join("\n");
  }
}

const names = ["a", "a-b", "b", "__proto__"];
const name = fc.constantFrom(...names);

/** Whole lines, their beginnings and ends, and texts that only look like them. */
const piece = fc.oneof(
  name.map((each) => `- [${each}](${each}.md)`),
  name.map((each) => `- [${each}](${each}.md) \u2014 of ${each}`),
  fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", " ", "", "\uFEFF", "- [a](b.md) x", "- [memory](memory.md)", "* "),
  fc.constantFrom("- [a](a.md)\t", "- [a](a.mdx)", " (b) \u2014 c", "$&", "# Title", "\u2028", "😀"),
);
const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
const description = fc.constantFrom("d", "$& $1 $'", "(a.md) \u2014 - [b](b.md)", "説明");
const change = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), name, description }),
  fc.record({ kind: fc.constantFrom("remove" as const, "keepFirst" as const), name, description }),
);

test("one text and a list of lines agree after any changes", () => {
  fc.assert(
    fc.property(text, fc.array(change, { maxLength: 4 }), (before, changes) => {
      const index = new IndexFile(before);
      const lines = new IndexLines(before);
      for (const { kind, name: entry, description: line } of changes) {
        for (const each of [index, lines]) {
          if (kind === "set") each.set(entry, line);
          else each[kind](entry);
        }
        expect(index.toString()).toBe(lines.toString());
      }
      const found = lines.names;
      expect(index.names).toEqual([...new Set(found)]);
      const said = index.names.map((each) => ({ name: each, description: lines.saidOf(each) }));
      expect(index.entries).toEqual(said);
      expect(index.repeatedNames).toEqual([...new Set(found.filter((each, at) => found.indexOf(each) !== at))]);
      expect(names.map((each) => index.has(each))).toEqual(names.map((each) => found.includes(each)));
      expect(names.map((each) => index.descriptionOf(each))).toEqual(names.map((each) => lines.descriptionOf(each)));
    }),
    { numRuns: 50_000 },
  );
});
