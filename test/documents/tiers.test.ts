/** test/README.md names each folder of tests with its tier, as the names of its files say. */
import { expect, test } from "vitest";

import { codeIn, tableBelow } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

/** All tests of these folders are slow: `vitest.config.ts` has a project for each. */
const slowFolders = new Set(["adapters", "load", "mcp", "polyglot"]);

const folderOf = (file: string): string => file.split("/")[1] ?? "";
const files = trackedFiles.filter((file) => /^test\/[^/]+\/.*\.test\.ts$/.test(file));
const folders = [...new Set(files.map(folderOf))].toSorted();

function tierOf(folder: string): string {
  const isSlow = (file: string): boolean => slowFolders.has(folder) || file.endsWith(".slow.test.ts");
  const tiers = files.filter((file) => folderOf(file) === folder).map((file) => (isSlow(file) ? "slow" : "fast"));
  return [...new Set(tiers)].toSorted().join(" and ");
}

test("the table has each folder of tests, with its tier", () => {
  const rows = tableBelow(textOf("test/README.md"), "Folders").map(([folder = "", tier = ""]) => [
    codeIn(folder)[0]?.replace("/", ""),
    tier,
  ]);
  expect(rows).toEqual(folders.map((folder) => [folder, tierOf(folder)]));
});

const documents = trackedFiles.filter((file) => /^test\/[^/]+\/README\.md$/.test(file));

test.each(documents)("%s says its tier", (document) => {
  expect(textOf(document)).toContain(`\nTier: ${tierOf(folderOf(document))}.`);
});
