/** Documents quote the benchmark's results exactly. */
import { expect, test } from "vitest";

import { textOf } from "../documents/tracked-files.ts";
import { formatResults } from "./results.ts";
import type { Results } from "./results.ts";
import { costLine, costTable, replaceQuote } from "./tables.ts";

const json = textOf("test/bench/results/bench.json");
const results = JSON.parse(json) as Results;

test("the results are those of a full run, as the benchmark writes them", () => {
  expect(formatResults(results)).toBe(json);
  expect(results.effort).toBe("full");
});

test.for([
  { document: "README.md", quote: costLine(results) },
  { document: "test/bench/README.md", quote: costTable(results) },
])("$document quotes the results", ({ document, quote }) => {
  expect(replaceQuote(textOf(document), quote)).toBe(textOf(document));
});

test("each verdict follows from its figure and bound", () => {
  const figures = results.sections.flatMap(({ tables }) => tables.flatMap((table) => table.figures));
  const judged = figures.flatMap((figure) => figure.targets.map((target) => ({ figure, target })));
  expect(judged.length).toBeGreaterThan(0);
  for (const { figure, target } of judged) {
    expect(target.found).toBe(figure.compared?.value ?? figure.median);
    expect(target.isMet).toBe(target.kind === "at most" ? target.found <= target.bound : target.found >= target.bound);
  }
});
