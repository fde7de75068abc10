/** Documents and the picture quote the benchmark's results exactly. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { groupsOf } from "./picture-groups.ts";
import { drawResults } from "./picture.ts";
import { costLine, costTable, replaceQuote } from "./quoted-results.ts";
import { formatResults, parseResults } from "./results.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (file: string): string => readFileSync(join(projectFolder, file), "utf8");
const json = textOf("test/bench/results/bench.json");
const results = parseResults(json);

test("the results match the schema, byte for byte as the benchmark writes them", () => {
  expect(formatResults(results)).toBe(json);
});

test("refuses results of another form", () => {
  const withPath = { ...results, machine: { ...results.machine, host: "x" } };
  expect(() => parseResults(JSON.stringify(withPath))).toThrow("unrecognized_keys");
});

test("the results come from one run of all sections", () => {
  expect(results.sections.map(({ number }) => number)).toEqual(Array.from({ length: 8 }, (_, at) => at + 1));
});

test("each verdict follows from its figure and bound", () => {
  const targets = results.sections
    .flatMap(({ tables }) => tables)
    .flatMap(({ figures }) => figures)
    .flatMap((figure) => figure.targets.map((target) => ({ figure, target })));
  expect(targets.length).toBeGreaterThan(0);
  for (const { figure, target } of targets) {
    expect(target.found).toBe(figure.compared?.value ?? figure.median);
    expect(target.isMet).toBe(target.kind === "at most" ? target.found <= target.bound : target.found >= target.bound);
  }
});

const quotes = [
  { document: "README.md", quote: costLine(results) },
  { document: "test/bench/README.md", quote: costTable(results) },
];

test.for(quotes)("$document quotes the results", ({ document, quote }) => {
  expect(replaceQuote(textOf(document), quote)).toBe(textOf(document));
});

test("refuses a document without a place for the results", () => {
  expect(() => replaceQuote("# memcell\n", "")).toThrow(RangeError);
});

test("the picture is drawn from the results", () => {
  expect(textOf("test/bench/results/bench.svg")).toBe(drawResults(results));
});

test("the picture shows every group, loads nothing external and has a title", () => {
  const groups = groupsOf(results);
  expect(groups.map(({ bars }) => bars.length)).toEqual([4, 5, 6, 5, 4]);
  const picture = drawResults(results);
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:|@import|url\(|<script/);
  for (const part of ["<title ", "<desc ", "prefers-color-scheme: dark"]) expect(picture).toContain(part);
  for (const { label } of groups.flatMap(({ bars }) => bars)) expect(label.length).toBeLessThan(45);
});

test("the picture leaves out a section that did not run", () => {
  const picture = drawResults({ ...results, sections: results.sections.filter(({ number }) => number !== 3) });
  expect(picture).not.toContain("Throughput");
  expect(picture).toContain("What the sandbox adds");
});
