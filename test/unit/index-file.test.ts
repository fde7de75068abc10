/** The lines of the index's file: which are an entry's, and what of them a person has written. */
import { describe, expect, test } from "vitest";

import { IndexFile } from "../../plugin/user-memory/index-file.ts";

describe("IndexFile", () => {
  test.for([
    ["prose", "- [a] (a.md) \u2014 x"],
    ["a name outside the grammar", "- [a b](a b.md) \u2014 x"],
    ["the index itself", "- [MEMORY](MEMORY.md) \u2014 x"],
    ["text right after the link", "- [a](a.md)x"],
    ["a mention in a sentence", "See [a](a.md) for more"],
    ["a mention behind a bullet", "- See [a](a.md)"],
    ["a sentence that begins with a link", "[a](a.md) is what I eat"],
    ["a sentence that begins with a file's name", "- a.md is what I eat"],
    ["a heading", "## [a](a.md)"],
    ["an image", "- ![a](a.md)"],
    ["a page on the web", "- [a](https://example.org/a.md)"],
    ["another folder", "- [a](../a.md)"],
    ["another folder, percent-encoded", "- [a](sub%2Fa.md)"],
    ["a broken percent escape", "- [a](%a.md)"],
    ["another file's wiki link", "- [[a/a]]"],
  ])("takes %s for a line that a person wrote", ([, line = ""]) => {
    const index = new IndexFile(`${line}\n`);
    expect(index.names).toEqual([]);
    index.remove("a");
    expect(index.toString()).toBe(`${line}\n`);
  });

  test.for([
    { line: "- [User role](a.md) \u2014 x", head: "- [User role](a.md)" },
    { line: "* [T](./a.md): x", head: "* [T](./a.md)" },
    { line: "+ [T](<a.md>) - x", head: "+ [T](<a.md>)" },
    { line: '12. [T [1] \\] ](<./././a.md> "title") x', head: '12. [T [1] \\] ](<./././a.md> "title")' },
    { line: "  - [ ] **[T](%61.md#part)** x", head: "  - [ ] **[T](%61.md#part)**" },
    { line: "- [[a]]", head: "- [[a]]" },
    { line: "- [[a|Title]] \u2013 x", head: "- [[a|Title]]" },
    { line: "[[a.md#part|T]]", head: "[[a.md#part|T]]" },
    { line: "[T](a.md) \u2014 x", head: "[T](a.md)" },
    { line: "- ./a.md: x", head: "- ./a.md" },
    { line: "- <a.md>", head: "- <a.md>" },
    { line: "- `a.md` \u2014 x", head: "- `a.md`" },
  ])("finds the entry of $line by its target, and keeps the link", ({ line, head }) => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const before = `# Mine${end}${line}${end}prose (a.md)${end}`;
      const index = new IndexFile(before);
      expect([...index.said.keys()]).toEqual(["a"]);
      index.set("a", "new");
      expect(index.toString()).toBe(`# Mine${end}${head} \u2014 new${end}prose (a.md)${end}`);
      index.remove("a");
      expect(index.toString()).toBe(`# Mine${end}prose (a.md)${end}`);
    }
  });

  test.for([
    { lines: "- [a](a.md) \u2014 old\n", change: "set", isLosing: false },
    { lines: "- [T](a.md) \u2014 old\n", change: "set", isLosing: false },
    { lines: "- [a](a.md) \u2014 hook\n", change: "set", isLosing: true },
    { lines: "- [a](a.md) \u2014 old\n- [a](a.md) \u2014 hook\n", change: "set", isLosing: true },
    { lines: "- [a](a.md) \u2014 old\n", change: "remove", isLosing: false },
    { lines: "- [a](a.md) \u2014 hook\n", change: "remove", isLosing: true },
    { lines: "- [T](a.md) \u2014 old\n", change: "remove", isLosing: true },
  ] as const)("tells whether $change loses words of a person in $lines", ({ lines, change, isLosing }) => {
    const index = new IndexFile(lines);
    if (change === "set") index.set("a", "new", "old");
    else index.remove("a", "old");
    expect(index.isLosing).toBe(isLosing);
  });

  test("takes a line whose dash a person changed for an entry's line", () => {
    const index = new IndexFile("- [a](a.md) - old\n- [b](b.md)\n");
    expect(index.names).toEqual(["a", "b"]);
    index.set("a", "new");
    expect(index.toString()).toBe("- [a](a.md) \u2014 new\n- [b](b.md)\n");
  });
});
