/** The index as one text, compared with the same index as a list of lines. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { IndexFile } from "../../plugin/user-memory/index-file.ts";
import { entryLineIn, lineOf, restOf, saidIn } from "../../plugin/user-memory/index-line.ts";
import { runs } from "../stage/random-runs.ts";

const nameOf = (line: string): string | null => entryLineIn(line)?.name ?? null;

/** The plainest implementation of `IndexFile`: it checks every line. */
class IndexLines {
  readonly #mark: string;
  readonly #break: string;
  readonly #firstEnd: string;
  /** Each with its line end. */
  #lines: string[];

  constructor(file: string) {
    this.#mark = file.startsWith("\uFEFF") ? "\uFEFF" : "";
    const body = file.slice(this.#mark.length);
    this.#break = body.includes("\r") && !body.includes("\n") ? "\r" : "\n";
    this.#firstEnd = this.#break;
    this.#lines = body.split(this.#break === "\r" ? /(?<=\r)/ : /(?<=\n)/).filter((line) => line !== "");
  }

  get #lineEnd(): string {
    const first = this.#lines[0] ?? "";
    return this.#break === "\n" && first.endsWith("\r\n") ? "\r\n" : this.#firstEnd;
  }

  #textOf(line: string): string {
    return this.#break === "\r" ? line.replace(/\r$/, "") : line.replace(/\r?\n?$/, "");
  }

  #is(line: string, entry: string): boolean {
    return nameOf(this.#textOf(line)) === entry;
  }

  get names(): string[] {
    return this.#lines.map((line) => nameOf(this.#textOf(line))).filter((each) => each !== null);
  }

  descriptionOf(entry: string): string | null {
    const line = this.#lines.find((each) => this.#is(each, entry));
    const found = line === undefined ? null : entryLineIn(this.#textOf(line));
    return found && saidIn(found);
  }

  set(entry: string, text: string): void {
    const place = this.#lines.findIndex((each) => this.#is(each, entry));
    if (place < 0) {
      const last = this.#lines.at(-1) ?? "";
      const end = this.#lineEnd;
      if (last !== "" && !last.endsWith(this.#break)) this.#lines[this.#lines.length - 1] = last + end;
      this.#lines.push(lineOf(entry, text) + end);
      return;
    }
    const old = this.#textOf(this.#lines[place] ?? "");
    this.keepFirst(entry);
    const line = this.#lines[place] ?? "";
    this.#lines[place] = (entryLineIn(old)?.head ?? "") + restOf(text) + line.slice(old.length);
  }

  keepFirst(entry: string): void {
    const place = this.#lines.findIndex((each) => this.#is(each, entry));
    this.#filter((each, at) => at <= place || !this.#is(each, entry));
  }

  remove(entry: string): void {
    this.#filter((each) => !this.#is(each, entry));
  }

  /** If the last line had no line end, the last one has none afterwards. */
  #filter(isKept: (line: string, at: number) => boolean): void {
    const isEnded = this.#lines.at(-1)?.endsWith(this.#break) === true;
    const isLastKept = this.#lines.length === 0 || isKept(this.#lines.at(-1) ?? "", this.#lines.length - 1);
    this.#lines = this.#lines.filter(isKept);
    const last = this.#lines.at(-1);
    if (!isEnded && !isLastKept && last !== undefined) this.#lines[this.#lines.length - 1] = this.#textOf(last);
  }

  toString(): string {
    return this.#mark + this.#lines.join("");
  }
}

const names = ["a", "a-b", "b", "__proto__"];
const name = fc.constantFrom(...names);

/** Whole lines, their beginnings and ends, and texts that only look like them. */
const piece = fc.oneof(
  name.map((each) => `- [${each}](${each}.md)`),
  name.map((each) => `- [${each}](${each}.md) \u2014 of ${each}`),
  fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", " ", "", "\uFEFF", "- [a](b.md) x", "- [memory](memory.md)", "* "),
  fc.constantFrom("* [T](./a.md)", "1. [[b|T]] ", "[a](<a.md>)", "- [T](%61.md 't')", "- a-b.md: ", "see [a](a.md)"),
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
      expect([...index.said]).toEqual(index.names.map((each) => [each, lines.descriptionOf(each)]));
      expect(index.repeatedNames).toEqual([...new Set(found.filter((each, at) => found.indexOf(each) !== at))]);
      expect(names.map((each) => index.has(each))).toEqual(names.map((each) => found.includes(each)));
      expect(names.map((each) => index.descriptionOf(each))).toEqual(names.map((each) => lines.descriptionOf(each)));
    }),
    runs(5_000),
  );
});
