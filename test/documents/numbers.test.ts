/**
 * The numbers in documents are those of the code, of a command that writes them between marks, or of a test that is
 * named here. Pages of decisions and the history quote figures of their day; of decisions, `rationale.test.ts`
 * compares those that the code still has.
 */
import { expect, test } from "vitest";

import * as limits from "../../shared/limits.ts";
import { withoutBlocks } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

const isOfItsDay = (file: string): boolean => /(?:^|\/)(?:RATIONALE|CHANGELOG)\.md$/.test(file);
const documents = trackedFiles.filter((file) => file.endsWith(".md") && !isOfItsDay(file));

/** Numbers that no literal has: what each is, and who keeps it true. */
const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "build/README.md": {
    "1038 384 617 32 19 1249": "test/build/artifact.test.ts",
    "20.20 22.23 24.21": "the versions of Node with which npm run test:long has built the plugins",
  },
  "host/polyglot/README.md": { "1.7.1": "host/polyglot/go/go.mod" },
  "host/README.md": {
    "61": "test/documents/way-of-a-call.test.ts",
    "113": "the list of an earlier commit, below it",
  },
  "plugin/README.md": {
    "0.28 1.63.0 14 7.5": "the compilers with which a plugin was tried by hand, and what it weighed",
  },
  "plugin/journal/memory_search.md": { "5.0": "an input, in test/conformance" },
  "shared/README.md": { "2097152 8388608": "test/documents/specification.test.ts" },
  "test/mcp/README.md": { "120": "the size of a download, rounded", "0.1.16": "test/mcp/conformance.test.ts" },
};

const literals = new Set(Object.values(limits).flatMap((group) => Object.values(group).map(String)));
for (const file of trackedFiles.filter((each) => /\.(?:ts|json|py|go|rs|java|xml|toml|txt|mod)$/.test(each))) {
  // A vector or a result of a run has many, and would hold any.
  if (/^test\/(?:.*vectors|bench\/results)\//.test(file) || file.endsWith("package-lock.json")) continue;
  for (const [digits] of textOf(file).matchAll(/(?<![\w.])\d[\d_]*(?:\.\d+)*/g))
    literals.add(digits.replaceAll("_", ""));
}

/** Of two digits and more, outside code, links, names of standards, and parts that a command writes: to the end mark, or to the end. */
function numbersOf(markdown: string): string[] {
  const prose = withoutBlocks(markdown)
    .replaceAll(/<!-- [a-z]+(?:: made by .*?)? -->[\s\S]*?(?:<!-- \/[a-z]+ -->|$)/g, "")
    .replaceAll(/`[^`]*`|\]\([^)]*\)|https?:\/\/\S+|RFC \d+|wazero#\d+|<img [^>]*>/g, "");
  const found = prose.matchAll(/(?<![\w.,-])\d[\d,]*(?:\.\d+)*(?![\w-])/g);
  return Array.from(found, ([digits]) => digits.replaceAll(",", "")).filter((digits) => digits.length > 1);
}

test.for(documents)("%s: every number is of the code, of a command, or of a test", (document) => {
  const told = new Set(Object.keys(others[document] ?? {}).flatMap((digits) => digits.split(" ")));
  expect(numbersOf(textOf(document)).filter((digits) => !literals.has(digits) && !told.has(digits))).toEqual([]);
});

test("whatever is told of numbers is still needed, and its test exists", () => {
  for (const [document, told] of Object.entries(others)) {
    const numbers = numbersOf(textOf(document));
    for (const digits of Object.keys(told).flatMap((each) => each.split(" "))) expect(numbers).toContain(digits);
    const tests = Object.values(told).filter((each) => each.endsWith(".test.ts"));
    expect(tests.filter((file) => !trackedFiles.includes(file))).toEqual([]);
  }
});
