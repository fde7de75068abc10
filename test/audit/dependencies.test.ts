/** A report lists dependencies only if the shipped SBOM is valid as a whole and describes this exact file. */
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
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

let files = 0;
/** The dependencies by a list with this text, or at a place that is made otherwise. */
async function dependenciesBy(list: string | ((file: string) => void)): ReturnType<typeof readDependencies> {
  const file = join(folder.path, `${(files += 1)}.json`);
  if (typeof list === "function") list(file);
  else writeFileSync(file, list);
  return await readDependencies(sha256, file);
}

test("lists the packages of exactly this file by name, with versions and licences", async () => {
  const dependencies = await readDependencies(sha256, sbomFile);
  expect(dependencies).toContainEqual({ name: "zod", version: "4.6.7", licence: "MIT" });
  const names = dependencies?.map(({ name }) => name) ?? [];
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(["js-yaml", "quickjs-ng"]));
  for (const other of ["user-memory", "esbuild"]) expect(names).not.toContain(other);
  for (const hash of ["0".repeat(64), ""]) expect(await readDependencies(hash, sbomFile)).toBe(null);
});

test.for<readonly [name: string, list: string | ((file: string) => void)]>([
  ["cut off", text.slice(0, -20)],
  ["not UTF-8", (file) => writeFileSync(file, Buffer.concat([Buffer.from(text), Buffer.of(0xff)]))],
  ["too large", (file) => (writeFileSync(file, text), truncateSync(file, sbomLimits.bytesMax + 1))],
  ["in another format", text.replace('"CycloneDX"', '"SPDX"')],
  ["with a name that moves the cursor", text.replace('"name": "zod"', '"name": "zod\\u001b[2K"')],
  ["with a package that has no licence", text.replaceAll(/"licenses": \[[^\]]*\]/g, '"licenses": []')],
  ["with a dependency that is not listed", text.replaceAll('"bom-ref": "pkg:npm/zod', '"bom-ref": "pkg:npm/dod')],
  ["with the plugins' hashes in another algorithm", text.replaceAll('"SHA-256"', '"SHA-1"')],
])("a list that is %s gives no dependencies", async ([, list]) => {
  expect(list).not.toBe(text);
  expect(await dependenciesBy(list)).toBe(null);
});

test("reads a list whose packages depend on each other in a circle, with scopes and licence expressions", async () => {
  const scoped = text
    .replace('"name": "zod"', '"group": "@scope", "name": "zod"')
    .replace(/("name": "zod"[^]*?)"license": \{\s*"id": "MIT"\s*\}/, '$1"expression": "MIT OR ISC"');
  const list = JSON.parse(scoped) as { dependencies: { ref: string; dependsOn?: string[] }[] };
  const own = list.dependencies.find(({ ref }) => ref === "plugin:user-memory@0.1.0")?.dependsOn ?? [];
  const dependencies = list.dependencies.map(({ ref, dependsOn = [] }) => {
    return { ref, dependsOn: own.includes(ref) ? [...dependsOn, ...own] : dependsOn };
  });
  const found = await dependenciesBy(JSON.stringify({ ...list, dependencies }));
  expect(found).toHaveLength((await readDependencies(sha256, sbomFile))?.length ?? 0);
  expect(found).toContainEqual({ name: "@scope/zod", version: "4.6.7", licence: "MIT OR ISC" });
});
