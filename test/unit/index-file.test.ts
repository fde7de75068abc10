/** Which lines of the index's file are an entry's, and what of them a person has written. */
import { expect, test } from "vitest";

import { IndexFile } from "../../plugin/user-memory/index-file.ts";

test.for([
  ["prose", "- [a] (a.md) \u2014 x"],
  ["a name outside the grammar", "- [a b](a b.md) \u2014 x"],
  ["text right after the link", "- [a](a.md)x"],
  ["a mention behind a bullet", "- See [a](a.md)"],
  ["a sentence that begins with a link", "[a](a.md) is what I eat"],
  ["another folder, percent-encoded", "- [a](sub%2Fa.md)"],
  ["a broken percent escape", "- [a](%a.md)"],
])("%s is a line that a person wrote", ([, line = ""]) => {
  const index = new IndexFile(`${line}\n`);
  expect(index.names).toEqual([]);
  index.remove("a");
  expect(index.toString()).toBe(`${line}\n`);
});

test.for([
  { line: "- [a](a.md) - old", head: "- [a](a.md)" },
  { line: '12. [T [1] \\] ](<./././a.md> "title") x', head: '12. [T [1] \\] ](<./././a.md> "title")' },
  { line: "  - [ ] **[T](%61.md#part)** x", head: "  - [ ] **[T](%61.md#part)**" },
  { line: "[[a.md#part|T]]", head: "[[a.md#part|T]]" },
  { line: "- <a.md>", head: "- <a.md>" },
  { line: "- `a.md` \u2014 x", head: "- `a.md`" },
])("$line is the entry's by its target, and its link stays", ({ line, head }) => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const index = new IndexFile(`# Mine${end}${line}${end}prose (a.md)${end}`);
    expect([...index.said.keys()]).toEqual(["a"]);
    index.set("a", "new");
    expect(index.toString()).toBe(`# Mine${end}${head} \u2014 new${end}prose (a.md)${end}`);
    index.remove("a");
    expect(index.toString()).toBe(`# Mine${end}prose (a.md)${end}`);
  }
});
