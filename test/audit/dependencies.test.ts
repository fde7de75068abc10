/** A report lists dependencies only if the shipped SBOM is valid as a whole and describes this exact file. */
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { readDependencies } from "../../host/report/dependencies.ts";
import { sbomLimits } from "../../shared/limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const sbomFile = fileURLToPath(new URL("../../dist/sbom.json", import.meta.url));
const text = readFileSync(sbomFile, "utf8");
const sha256 = readFileSync(`${shippedPlugin("user-memory")}.sha256`, "utf8").slice(0, 64);

test("lists the shipped plugin's packages by name, with versions and licences", async () => {
  const dependencies = await readDependencies(sha256, sbomFile);
  expect(dependencies).toContainEqual({ name: "zod", version: "4.6.7", licence: "MIT" });
  expect(dependencies).toContainEqual({ name: "quickjs-ng", version: "0.17.0", licence: "MIT" });
  const names = dependencies?.map(({ name }) => name) ?? [];
  expect(names).toEqual(names.toSorted());
  expect(names).toContain("js-yaml");
  expect(names).not.toContain("user-memory");
  expect(names).not.toContain("esbuild");
});

test("keeps scopes and licence expressions as the package states them", async () => {
  const ours = text.replace('"name": "zod"', '"group": "@scope", "name": "zod"');
  const [id, expression] = ['"license": {\n            "id": "MIT"\n          }', '"expression": "MIT OR ISC"'];
  const changed = ours.replace(new RegExp(`("name": "zod"[^]*?)${id}`), `$1${expression}`);
  expect(changed).not.toBe(ours);
  const file = writeSbom("scoped", changed);
  expect(await readDependencies(sha256, file)).toContainEqual({
    name: "@scope/zod",
    version: "4.6.7",
    licence: "MIT OR ISC",
  });
});

test("returns no list for another file", async () => {
  expect(await readDependencies("0".repeat(64), sbomFile)).toBe(null);
  // The hash of the altered file, of a package, and an empty hash.
  expect(await readDependencies("", sbomFile)).toBe(null);
});

const states: { name: string; sbom: string | ((path: string) => void) }[] = [
  { name: "absent", sbom: () => {} },
  { name: "a folder", sbom: (path) => mkdirSync(path) },
  { name: "empty", sbom: "" },
  { name: "not JSON", sbom: text.slice(1) },
  { name: "cut off", sbom: text.slice(0, -20) },
  { name: "not UTF-8", sbom: (path) => writeFileSync(path, Buffer.concat([Buffer.from(text), Buffer.of(0xff)])) },
  {
    name: "too large",
    sbom: (path) => {
      writeFileSync(path, text + " ".repeat(10));
      truncateSync(path, sbomLimits.bytesMax + 1);
    },
  },
  { name: "too large because of spaces", sbom: text + " ".repeat(sbomLimits.bytesMax) },
  { name: "too deep", sbom: text.replace('"version": 1,', `"deep": ${"[".repeat(40)}${"]".repeat(40)},`) },
  { name: "in another format", sbom: text.replace('"CycloneDX"', '"SPDX"') },
  { name: "of another version", sbom: text.replace('"1.6"', '"9.9"') },
  { name: "with a name that moves the cursor", sbom: text.replace('"name": "zod"', '"name": "zod\\u001b[2K"') },
  { name: "with a name that opens a tag", sbom: text.replace('"name": "zod"', '"name": "<script>"') },
  { name: "with a name that reverses text", sbom: text.replace('"name": "zod"', '"name": "zod\\u202e"') },
  { name: "with a name of a thousand characters", sbom: text.replace('"zod"', `"${"z".repeat(1000)}"`) },
  { name: "with a package that has no licence", sbom: text.replaceAll(/"licenses": \[[^\]]*\]/g, '"licenses": []') },
  {
    name: "with a dependency that is not listed",
    sbom: text.replaceAll('"bom-ref": "pkg:npm/zod', '"bom-ref": "pkg:npm/dod'),
  },
  { name: "with the plugins' hashes in another algorithm", sbom: text.replaceAll('"SHA-256"', '"SHA-1"') },
];

test.for(states)("a list that is $name gives no dependencies", async ({ name, sbom }) => {
  const file = typeof sbom === "string" ? writeSbom(name, sbom) : join(folder.path, name);
  if (typeof sbom !== "string") sbom(file);
  else expect(sbom).not.toBe(text);
  expect(await readDependencies(sha256, file)).toBe(null);
});

test("reads a list whose packages depend on each other in a circle", async () => {
  const list = JSON.parse(text) as { dependencies: { ref: string; dependsOn?: string[] }[] };
  const below = new Map(list.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const own = new Set(below.get("plugin:user-memory@0.1.0"));
  for (const ref of own) for (const next of below.get(ref) ?? []) own.add(next);
  expect(own.size).toBeGreaterThan(5);
  const dependencies = list.dependencies.map((each) =>
    own.has(each.ref) ? { ref: each.ref, dependsOn: [...own] } : each,
  );
  const file = writeSbom("circle", JSON.stringify({ ...list, dependencies }));
  expect(await readDependencies(sha256, file)).toEqual(await readDependencies(sha256, sbomFile));
});

function writeSbom(name: string, content: string): string {
  const file = join(folder.path, name);
  writeFileSync(file, content);
  return file;
}
