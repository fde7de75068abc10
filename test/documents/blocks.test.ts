/** Nothing that a document shows is there unchecked: every block is a program, a command, or held by a test. */
import { describe, expect, test } from "vitest";

import { heldBlocks } from "./held-blocks.ts";
import { blocksIn, codeIn, withoutBlocks } from "./markdown-table.ts";
import { pages } from "./tool-pages.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

const documents = trackedFiles.filter((file) => file.endsWith(".md"));
const pageFiles = new Set(Object.values(pages).map(({ file }) => file));

/** Commands are held by `commands.test.ts`. */
const programs = new Set(["sh", "ts", "js", "go", "python", "rust", "java"]);

test.for(documents)("%s: every block that shows something is held by a test", (document) => {
  const blocks = blocksIn(textOf(document)).filter(({ language }) => !programs.has(language));
  const held = heldBlocks[document] ?? [];
  if (pageFiles.has(document)) {
    expect(held).toEqual([]);
    const languages = new Set(blocks.map(({ language }) => language));
    expect([...languages].filter((language) => !["json input", "json result", "text"].includes(language))).toEqual([]);
  } else expect(blocks.map(({ text }) => text.split("\n")[0])).toHaveLength(held.length);
});

test.for(Object.entries(heldBlocks))("%s: the tests that hold its blocks read it", ([document, tests]) => {
  expect(documents).toContain(document);
  for (const file of tests) expect(textOf(file)).toContain(document);
});

describe("outside blocks", () => {
  /** The contract's table of messages, which `vector-coverage.test.ts` compares with what hosts answer. */
  const ofMessages = new Set(["shared/README.md"]);

  test.for(documents.filter((document) => !ofMessages.has(document)))("%s quotes no message", (document) => {
    expect(codeIn(withoutBlocks(textOf(document))).filter((code) => /^(?:Cannot|warn|error) /.test(code))).toEqual([]);
  });

  /** A UUID is an example, or is held by a test of its document. */
  test.for(documents)("%s names no hash", (document) => {
    expect(withoutBlocks(textOf(document)).match(/(?<![0-9a-f-])[0-9a-f]{12,}(?![0-9a-f-])/g)).toBeNull();
  });
});
