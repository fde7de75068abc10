/** The plugin's parts that need no guest: front matter, entry files, the index file. */
import { describe, expect, test } from "vitest";

import { parseFields, splitFrontMatter } from "../../plugin/front-matter.ts";
import { formatEntry, parseEntry } from "../../plugin/user-memory/entry-file.ts";
import { IndexFile } from "../../plugin/user-memory/index-file.ts";

const fields = { name: "a", description: "New", type: "user", created: "c", updated: "u" } as const;
const own = "name: a\ndescription: New\ntype: user\ncreated: c\nupdated: u\n";

describe("formatEntry() keeps what people added to the front matter", () => {
  test.for([
    { name: "a key", replaced: "name: a\nmine: 1\ntype: user\n", kept: "mine: 1\n" },
    {
      name: "comments",
      replaced: "# top\nname: a\n# middle\nmine: 1 # end\n",
      kept: "# top\n# middle\nmine: 1 # end\n",
    },
    {
      name: "nested keys named like ours",
      replaced: "name: a\nmine:\n  name: x\n  type: y\n",
      kept: "mine:\n  name: x\n  type: y\n",
    },
    {
      name: "a key that starts like one of ours",
      replaced: "name: a\nnamed: x\nname-2: y\n",
      kept: "named: x\nname-2: y\n",
    },
    {
      name: "nothing of a description over many lines",
      replaced: "description: >\n  one\n  two\nmine: 1\n",
      kept: "mine: 1\n",
    },
    { name: "nothing of our keys in quotes", replaced: "\"name\": a\n'type': user\nmine: 1\n", kept: "mine: 1\n" },
    { name: "an anchor that is still used", replaced: "mine: &x 1\nalso: *x\n", kept: "mine: &x 1\nalso: *x\n" },
    { name: "the value of an anchor that was ours", replaced: "description: &x old\nmine: *x\n", kept: "mine: old\n" },
    { name: "no final line feed", replaced: "name: a\nmine: 1", kept: "mine: 1\n" },
    { name: "CRLF lines", replaced: "name: a\r\nmine: 1\r\n", kept: "mine: 1\r\n" },
  ])("$name", ({ replaced, kept }) => {
    expect(formatEntry(fields, "body", replaced)).toBe(`---\n${own}${kept}---\nbody`);
  });
});

describe("splitFrontMatter()", () => {
  test.for([
    { name: "text without fences", file: "name: a" },
    { name: "an open fence", file: "---\nname: a\n" },
    { name: "a fence with a language", file: "---js\n1\n---\n" },
    { name: "a fence of four dashes", file: "----\nname: a\n----\n" },
    { name: "a fence that is not on the first line", file: "\n---\nname: a\n---\n" },
    { name: "a list", file: "---\n- a\n---\n" },
    { name: "a scalar", file: "---\ntext\n---\n" },
    { name: "broken YAML", file: "---\na: [\n---\n" },
    { name: "two documents", file: "---\na: 1\n...\nb: 2\n---\n" },
    { name: "a tag", file: "---\na: !!js/regexp /x/\n---\n" },
    { name: "a line of dashes", file: "---\na: 1\n------\nb: 2\n---\n" },
    { name: "a line that starts like a fence", file: "---\na: 1\n---x: 2\nb: 3\n---\n" },
    { name: "a fence behind a lone carriage return", file: "---\nmine: a\r---\rb\nz: 1\n---\nx" },
    { name: "a duplicate key", file: "---\na: 1\na: 2\n---\n" },
  ])("refuses $name", ({ file }) => {
    expect(splitFrontMatter(file)).toBeNull();
  });

  test("reads scalars as their text", () => {
    const text = "a: yes\nb: null\nc: 2024-01-01\nd: 012\ne: 1e3\nf: ~\n";
    expect(Object.fromEntries(parseFields(text) ?? [])).toEqual({
      a: "yes",
      b: "null",
      c: "2024-01-01",
      d: "012",
      e: "1e3",
      f: "~",
    });
  });

  test("keeps a key named __proto__", () => {
    const parsed = parseFields("__proto__: x\na: 1\n");
    expect([...(parsed ?? [])]).toEqual([
      ["__proto__", "x"],
      ["a", "1"],
    ]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test("ends the front matter at the first closing fence and keeps the body's bytes", () => {
    expect(splitFrontMatter("---\na: 1\n---\r\n---\nb\n---\n")?.body).toBe("---\nb\n---\n");
    expect(splitFrontMatter("---\na: 1\n---")?.body).toBe("");
    expect(splitFrontMatter("---\na: 1\n---\n\n\nx")?.body).toBe("\n\nx");
    expect(splitFrontMatter("\ufeff---\na: 1\n---\nx")?.body).toBe("x");
  });
});

describe("parseEntry()", () => {
  test("reads what formatEntry() wrote", () => {
    expect(parseEntry(formatEntry(fields, "body"), "a")).toMatchObject({
      description: "New",
      type: "user",
      created: "c",
      updated: "u",
      body: "body",
    });
  });
});

describe("IndexFile", () => {
  test.for([
    { name: "prose", line: "- [a] (a.md) \u2014 x" },
    { name: "a name outside the grammar", line: "- [a b](a b.md) \u2014 x" },
    { name: "the index itself", line: "- [MEMORY](MEMORY.md) \u2014 x" },
    { name: "text right after the link", line: "- [a](a.md)x" },
    { name: "a mention in a sentence", line: "See [a](a.md) for more" },
    { name: "a mention behind a bullet", line: "- See [a](a.md)" },
    { name: "a sentence that begins with a link", line: "[a](a.md) is what I eat" },
    { name: "a sentence that begins with a file's name", line: "- a.md is what I eat" },
    { name: "a heading", line: "## [a](a.md)" },
    { name: "an image", line: "- ![a](a.md)" },
    { name: "a page on the web", line: "- [a](https://example.org/a.md)" },
    { name: "another folder", line: "- [a](../a.md)" },
    { name: "another folder, percent-encoded", line: "- [a](sub%2Fa.md)" },
    { name: "a broken percent escape", line: "- [a](%a.md)" },
    { name: "another file's wiki link", line: "- [[a/a]]" },
  ])("takes $name for a line that a person wrote", ({ line }) => {
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
