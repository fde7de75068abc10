import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { indexFolder } from "../../plugin/stores/store-index.ts";
import { indexPath } from "../../plugin/user-memory/entry-name.ts";
import { isDerived } from "../../shared/derived-files.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const derivedFiles = ["MEMORY.md", "_.index/", "sub/made/"];

test.for([
  ["MEMORY.md", true],
  ["_.index/000001.txt", true],
  ["_.index/deeper/a", true],
  ["sub/made/a.md", true],
  ["memory.md", false],
  ["MEMORY.md/a", false],
  ["sub/MEMORY.md", false],
  ["MEMORY.md.md", false],
  ["_.index", false],
  ["_.index.md", false],
  ["_.INDEX/000001.txt", false],
  ["sub/a.md", false],
  ["sub/made", false],
  ["trash/MEMORY.20240101T000000000Z.md", false],
] as const)("isDerived(%j) is %s", ([path, expected]) => expect(isDerived(path, derivedFiles)).toBe(expected));

test("without derivedFiles, no file is derived", () => expect(isDerived("MEMORY.md", [])).toBe(false));

test.for([
  ["user-memory", [indexPath]],
  ["stores", [`${indexFolder}/`]],
  ["journal", undefined],
  ["run-history", undefined],
] as const)("the manifest of %s names the files that it derives", ([name, expected]) => {
  const { tools } = manifestOf(readFileSync(shippedPlugin(name)));
  expect(tools.find(({ role }) => role === "inspect")?.derivedFiles).toEqual(expected);
});
