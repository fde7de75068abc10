/** A change of an entry in the index changes its lines and no other, whatever people have written there. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { IndexFile } from "../../plugin/user-memory/index-file.ts";
import { entryLineIn, restOf } from "../../plugin/user-memory/index-line.ts";
import { runs } from "../stage/random-runs.ts";

const pathOf = (line: string): string | null => entryLineIn(line)?.path ?? null;

const names = ["a", "a-b", "b", "__proto__"];
const name = fc.constantFrom(...names);
const others = [
  { name: "uber-mich", path: "sub/%C3%9Cber%20mich.md" },
  { name: "a-0c1f8b2e", path: "sub/a.md" },
];
const entries = [...names.map((each) => ({ name: each, path: `${each}.md` })), ...others];
const entry = fc.constantFrom(...entries);

/** Whole lines, their beginnings and ends, and texts that only look like them. */
const piece = fc.oneof(
  name.map((each) => `- [${each}](${each}.md)`),
  name.map((each) => `- [${each}](${each}.md) \u2014 of ${each}`),
  fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", " ", "", "\uFEFF", "- [a](b.md) x", "- [memory](memory.md)", "* "),
  fc.constantFrom("* [T](./a.md)", "1. [[b|T]] ", "[a](<a.md>)", "- [T](%61.md 't')", "- a-b.md: ", "see [a](a.md)"),
  fc.constantFrom("- [uber-mich](sub/%C3%9Cber%20mich.md)", "- [[sub/U\u0308ber mich]] x", "* [T](<sub/a.md>)"),
  fc.constantFrom("- [a](a.md)\t", "- [a](a.mdx)", " (b) \u2014 c", "$&", "# Title", "\u2028", "😀"),
);
const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
const description = fc.constantFrom("d", "$& $1 $'", "(a.md) \u2014 - [b](b.md)", "説明");
const change = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), entry, description }),
  fc.record({ kind: fc.constantFrom("remove" as const, "keepFirst" as const), entry, description }),
);

/** Without line ends, of which the last one can be missing, and without the mark that the first text begins with. */
function linesIn(file: string, first: string): string[] {
  const isOfReturns = first.includes("\r") && !first.includes("\n");
  const lines = file.slice(first.startsWith("\uFEFF") ? 1 : 0).split(isOfReturns ? "\r" : "\n");
  return lines.map((line) => line.replace(/\r$/, "")).filter((line) => line !== "");
}

test("a change of an entry changes its lines alone, and what is written is read back", () => {
  fc.assert(
    fc.property(text, fc.array(change, { maxLength: 4 }), (first, changes) => {
      // A return alone among line feeds belongs to its line or to the line's end, as it comes.
      fc.pre(!first.includes("\n") || !/\r(?!\n)/.test(first));
      const index = new IndexFile(first);
      for (const { kind, entry: changed, description: said } of changes) {
        const before = index.toString();
        if (kind === "set") index.set({ ...changed, description: said });
        else if (kind === "remove") index.remove(changed.path);
        else index.keepFirst(new Set([changed.path]));
        const after = index.toString();
        const [old, now] = [before, after].map((file) => linesIn(file, first)) as [string[], string[]];
        const isOther = (line: string): boolean => pathOf(line) !== changed.path;
        const left = old.filter(isOther);
        const isKept = (line: string, at: number): boolean =>
          kind !== "keepFirst" ||
          pathOf(line) === null ||
          left.findIndex((each) => pathOf(each) === pathOf(line)) === at;
        expect(now.filter(isOther)).toEqual(left.filter(isKept));
        if (first.startsWith("\uFEFF")) expect(after.startsWith("\uFEFF")).toBe(true);
        const own = now.filter((line) => !isOther(line));
        expect(own).toHaveLength(kind === "set" ? 1 : 0);
        if (kind === "set") expect(own[0]?.endsWith(restOf(said))).toBe(true);
        const found = now.map(pathOf).filter((each) => each !== null);
        expect([...index.listed.keys()]).toEqual([...new Set(found)]);
        expect(index.repeated).toEqual([...new Set(found.filter((each, at) => found.indexOf(each) !== at))]);
        for (const { path } of entries) expect(index.has(path)).toBe(found.includes(path));
        // A file that has lost its last line feed can be one of returns, and a mark can have come to its beginning.
        const isRead = [/\n/, /^\uFEFF/].every((sign) => sign.test(after) === sign.test(first));
        if (isRead) expect([...new IndexFile(after).said]).toEqual([...index.said]);
      }
    }),
    runs(5_000),
  );
});
