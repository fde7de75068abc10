/** Which lines of the index's file are an entry's, and what of them a person has written. */
import { expect, test } from "vitest";

import { IndexFile } from "../../plugin/user-memory/index-file.ts";

test.for([
  ["prose", "- [a] (a.md) \u2014 x"],
  ["a link that ends at a space", "- [a b](a b.md) \u2014 x"],
  ["text right after the link", "- [a](a.md)x"],
  ["a mention behind a bullet", "- See [a](a.md)"],
  ["a sentence that begins with a link", "[a](a.md) is what I eat"],
  ["an encoded slash", "- [a](sub%2Fa.md)"],
  ["a file that is no note", "- [a](a.png)"],
  ["the index itself", "- [a](MEMORY.md)"],
  ["the trash", "- [a](trash/a.md)"],
  ["a climb", "- [a](../a.md)"],
  ["an encoded climb", "- [a](%2E%2E/a.md)"],
  ["the web", "- [a](https://example.org/a.md)"],
  ["a broken percent escape", "- [a](%a.md)"],
])("%s is a line that a person wrote", ([, line = ""]) => {
  const index = new IndexFile(`${line}\n`);
  expect([...index.listed.keys()]).toEqual([]);
  index.remove("a.md");
  expect(index.toString()).toBe(`${line}\n`);
});

test.for([
  { line: "- [a](a.md) - old", head: "- [a](a.md)" },
  { line: '12. [T [1] \\] ](<./././a.md> "title") x', head: '12. [T [1] \\] ](<./././a.md> "title")' },
  { line: "  - [ ] **[T](%61.md#part)** x", head: "  - [ ] **[T](%61.md#part)**" },
  { line: "[[a.md#part|T]]", head: "[[a.md#part|T]]" },
  { line: "- <a.md>", head: "- <a.md>" },
  { line: "- `a.md` \u2014 x", head: "- `a.md`" },
  { line: "- [T](sub/%C3%9Cber%20mich.md) x", head: "- [T](sub/%C3%9Cber%20mich.md)", path: "sub/%C3%9Cber%20mich.md" },
  { line: "- [T](<sub/U\u0308ber mich.md>)", head: "- [T](<sub/U\u0308ber mich.md>)", path: "sub/%C3%9Cber%20mich.md" },
  { line: "- [[C#\u65e5]] x", head: "- [[C#\u65e5]]", path: "C.md" },
  { line: "- [T](C%23.md)", head: "- [T](C%23.md)", path: "C%23.md" },
  { line: "- [T](100%25.md)", head: "- [T](100%25.md)", path: "100%25.md" },
])("$line is the entry's by its target, and its link stays", ({ line, head, path = "a.md" }) => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const index = new IndexFile(`# Mine${end}${line}${end}prose (a.md)${end}`);
    expect([...index.said.keys()]).toEqual([path]);
    index.set({ name: "a", path, description: "new" });
    expect(index.toString()).toBe(`# Mine${end}${head} \u2014 new${end}prose (a.md)${end}`);
    index.remove(path);
    expect(index.toString()).toBe(`# Mine${end}prose (a.md)${end}`);
  }
});
