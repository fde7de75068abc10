/** The threat model in host/README.md is no prose: each row names tests, and they are there and test something. */
import { expect, test } from "vitest";

import { codeIn, tableBelow } from "./markdown-table.ts";
import { filesAt, textOf, trackedFiles } from "./tracked-files.ts";

const rows = tableBelow(textOf("host/README.md"), "What stops what").map(([threat = "", stops = "", shownBy = ""]) => ({
  threat,
  stops,
  tests: codeIn(shownBy),
}));

/** A vector is a test of its own; another file is one when it holds an assertion. */
const isTest = (file: string): boolean =>
  file.includes("/vectors/")
    ? file.endsWith(".json")
    : file.endsWith(".test.ts") && /\b(expect|test)\w*\(|fc\.assert\(/.test(textOf(file));

test("the table of threats is there", () => {
  expect(rows.length).toBeGreaterThan(25);
});

test.each(rows)("$threat: stopped, and shown by tests that are there", ({ stops, tests }) => {
  expect(stops).not.toBe("");
  expect(tests.length).toBeGreaterThan(0);
  const shown = tests.map((path) => ({ path, tests: filesAt(path).filter(isTest).length }));
  expect(shown.filter((each) => each.tests === 0)).toEqual([]);
});

test("every attack of the tests belongs to a threat of the table", () => {
  const shown = new Set(rows.flatMap(({ tests }) => tests.flatMap(filesAt)));
  const attacks = trackedFiles.filter((file) => /^test\/(escape|bounds)\/.*\.test\.ts$/.test(file));
  expect(attacks.filter((file) => !shown.has(file))).toEqual([]);
});
