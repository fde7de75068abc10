/** Each row of the tables of threats names tests that exist and hold assertions. */
import { posix } from "node:path";

import { expect, test } from "vitest";

import { codeIn, tableBelow } from "./markdown-table.ts";
import { filesAt, textOf, trackedFiles } from "./tracked-files.ts";

/** Whether a path of the documents names something that tests: a vector, or a suite that holds an assertion. */
const namesTest = (path: string): boolean => filesAt(path).some(isTest);

function isTest(file: string): boolean {
  if (file.includes("/vectors/")) return file.endsWith(".json");
  return file.endsWith(".test.ts") && [file, ...declaringModules(file)].some((each) => hasAssertion(textOf(each)));
}

const hasAssertion = (text: string): boolean => /\bexpect\w*\(|fc\.assert\(/.test(text);

/** The modules beside a suite from which it imports a function that declares its tests, such as `testScripts`. */
function declaringModules(suite: string): string[] {
  const imports = textOf(suite).matchAll(/^import \{[^}]*\btest[A-Z]\w*[^}]*\} from "(\.\/[\w.-]+)";$/gm);
  return Array.from(imports, ([, module = ""]) => posix.join(posix.dirname(suite), module));
}

const tables = [
  { document: "host/README.md", rowsMin: 25 },
  { document: "host/audit/README.md", rowsMin: 10 },
  { document: "host/serve/README.md", rowsMin: 10 },
].map(({ document, rowsMin }) => ({
  document,
  rowsMin,
  rows: tableBelow(textOf(document), "What stops what").map(([threat = "", stops = "", shownBy = ""]) => ({
    threat,
    stops,
    tests: codeIn(shownBy),
  })),
}));
const rows = tables.flatMap((table) => table.rows);

test.each(tables)("$document has its table of threats", ({ rows: { length }, rowsMin }) => {
  expect(length).toBeGreaterThan(rowsMin);
});

test.each(rows)("$threat: stopped, and shown by tests that are there", ({ stops, tests }) => {
  expect(stops).not.toBe("");
  expect(tests.length).toBeGreaterThan(0);
  expect(tests.filter((path) => !namesTest(path))).toEqual([]);
});

test("every attack of the tests belongs to a threat of the tables", () => {
  const shown = new Set(rows.flatMap(({ tests }) => tests.flatMap(filesAt)));
  const attacks = trackedFiles.filter((file) => /^test\/(escape|bounds)\/.*\.test\.ts$/.test(file));
  expect(attacks.filter((file) => !shown.has(file))).toEqual([]);
});
