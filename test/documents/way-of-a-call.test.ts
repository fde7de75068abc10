/** The list of files in host/README.md is what one call runs: V8 counts how often each function has run, in each thread. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { codeIn, numbersIn, sectionOf, tableUnder } from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

const script = fileURLToPath(new URL("../../dist/test/documents/warm-calls.js", import.meta.url));

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { startOffset: number; count: number }[] }[];
  }[];
}

/** How often each function of `host/` has run in a process that makes so many calls. */
function countsOf(calls: number): Map<string, number> {
  using folder = temporaryFolder();
  const coverage = join(folder.path, "coverage");
  const env = { ...process.env, NODE_V8_COVERAGE: coverage };
  execFileSync(process.execPath, [script, join(folder.path, "data"), `${calls}`], { env, stdio: "ignore" });
  const reports = readdirSync(coverage).map(
    (file) => JSON.parse(readFileSync(join(coverage, file), "utf8")) as Coverage,
  );
  const counts = new Map<string, number>();
  for (const { url, functions } of reports.flatMap(({ result }) => result)) {
    if (!url.includes("/dist/host/")) continue;
    const sourceAt = sourcesIn(fileURLToPath(url));
    for (const [range] of functions.map(({ ranges }) => ranges)) {
      const file = range && sourceAt(range.startOffset);
      if (file === undefined || range === undefined) continue;
      const key = `${file} ${range.startOffset}`;
      counts.set(key, (counts.get(key) ?? 0) + range.count);
    }
  }
  return counts;
}

const inHost = /\bhost\/(.+)\.[jt]s$/;

/** Which file of `host/` a place of a compiled file comes from. A bundle names each of its files in a comment above it. */
function sourcesIn(file: string): (offset: number) => string | undefined {
  const parts = [...readFileSync(file, "utf8").matchAll(/^\/\/ ((?:host|shared|node_modules)\/\S+\.[jt]s)$/gm)];
  return (offset) => {
    const part = parts.findLast(({ index }) => index <= offset);
    return inHost.exec(part?.[1] ?? file)?.[1];
  };
}

test("host/README.md lists the files of host/ that one call passes through, and how many", () => {
  const table = tableUnder(textOf("host/README.md"), "### Its files");
  const told = table.flatMap(([folder = "", files = ""]) =>
    codeIn(files).map((file) => `${codeIn(folder)[0]}/${file}`),
  );
  // What follows the last calls, such as a restored memory, can be missing when the process ends. A slow machine opens a home
  // again for most calls, but not for all.
  const [before, after] = [countsOf(10), countsOf(110)];
  const grown = Array.from(after).filter(([key, count]) => count - (before.get(key) ?? 0) >= 96);
  const run = new Set(grown.map(([key]) => key.split(" ")[0] ?? ""));
  const [intro = ""] = sectionOf(textOf("host/README.md"), "Its files").split("\n|");
  expect(numbersIn(intro)).toContain(told.length);
  expect([...run].toSorted()).toEqual(told.toSorted());
});
