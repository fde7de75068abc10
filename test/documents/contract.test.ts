/** The documents name what the code has: capabilities, kernel functions, error codes; and every link and path exists. */
import { dirname, join, normalize } from "node:path";

import { expect, test } from "vitest";

import { capabilityRights, kernelSignatures } from "../../shared/abi.ts";
import { errorCodes } from "../../shared/errors.ts";
import { codeIn, linksIn, tableBelow, withoutBlocks } from "./markdown-table.ts";
import { filesAt, textOf, trackedFiles } from "./tracked-files.ts";

const contract = textOf("shared/README.md");
const documents = trackedFiles.filter((file) => file.endsWith(".md"));

test("every capability has its row in the contract, with the right it needs", () => {
  const rows = tableBelow(contract, "The capability ABI");
  expect(rows.length).toBeGreaterThan(0);
  const table = Array.from(
    contract.matchAll(/^\| `(\w+)` \| `\{.*\}` \| .* \| `(\w+)` \|$/gm),
    ([, ...cells]) => cells,
  );
  expect(Object.fromEntries(table)).toEqual(capabilityRights);
});

test("every kernel function has its row in the contract, with its type", () => {
  const types = tableBelow(contract, "The capability ABI").flatMap(([names = "", type = ""]) =>
    codeIn(names).map((name) => [name, type.replaceAll(/[`() ]/g, "")]),
  );
  expect(Object.fromEntries(types)).toEqual(kernelSignatures);
});

const reaches = tableBelow(textOf("host/README.md"), "What a capability reaches");

test.each(Object.entries(capabilityRights))("%s: what it reaches is told, and tests show it", (name, right) => {
  const row = reaches.find(([capability]) => capability === `\`${name}\``);
  expect(row?.[1]).toBe(`\`${right}\``);
  const missing = codeIn(row?.at(-1) ?? "").filter((path) => filesAt(path).length === 0);
  expect(row?.length).toBe(5);
  expect(missing).toEqual([]);
});

test.each(errorCodes)("%s: a test provokes it", (code) => {
  const tests = trackedFiles.filter((file) => /^test\/.*(\.test\.ts|\.json)$/.test(file) && !isOfDocuments(file));
  expect(tests.filter((file) => textOf(file).includes(`"${code}"`)).length).toBeGreaterThan(0);
});

const isOfDocuments = (file: string): boolean => /^test\/(documents|bench)\//.test(file);

test.each(documents)("%s: what it links to is there", (document) => {
  const broken = linksIn(textOf(document)).filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? document : normalize(join(dirname(document), path));
    if (filesAt(target).length === 0) return true;
    return anchor !== undefined && !anchorsOf(textOf(target)).has(anchor);
  });
  expect(broken).toEqual([]);
});

/** As GitHub names headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = Array.from(markdown.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test.each(documents)("%s: the files it names are there", (document) => {
  const named = codeIn(textOf(document)).filter((code) =>
    /^(host|shared|build|plugin|test|\.github|\.ci)\/[\w./*-]+$/.test(code),
  );
  expect(named.filter((path) => filesAt(path).length === 0)).toEqual([]);
});

/** Made by a build, or named by whoever makes it. */
const placeholder = /NAME|^\S*x\.deferred\.ts$|^dist\/index\.d\.ts$/;
const present = documents.filter((file) => !file.startsWith(".") && file !== "CHANGELOG.md");

const isThere = (name: string): boolean => {
  const pattern = name.replaceAll(".", String.raw`\.`).replaceAll("*", "[^/]*");
  return trackedFiles.some((file) => new RegExp(`(^|/)${pattern}$`).test(file));
};

test.each(present)("%s: the files of code that it names without their folder are there", (document) => {
  const named = codeIn(withoutBlocks(textOf(document))).filter((code) => /^[\w./*-]+\.ts$/.test(code));
  const patterns = named.filter((name) => !placeholder.test(name)).map((name) => name.replace(/^(\.\.?\/)+/, ""));
  expect(patterns.filter((name) => !isThere(name))).toEqual([]);
});
