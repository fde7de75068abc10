/** Which packages count as linked in, and which are allowed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { bundlePlugin } from "../../build/bundle.ts";
import type { BundledFile } from "../../build/bundle.ts";
import { licenceObjection } from "../../build/licences.ts";
import { linkedPackages } from "../../build/linked-packages.ts";
import { readPackageFacts } from "../../build/package-facts.ts";
import type { Family } from "../../shared/manifest.ts";
import * as z from "../../shared/zod.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const file = (path: string, bytes: number, ...imports: string[]): BundledFile => ({ path, bytes, imports });

test("packages are identified by their place, including scoped and nested packages", () => {
  const files = [
    file("plugin/index.ts", 9, "node_modules/@scope/a/index.js", "shared/b.ts"),
    file("shared/b.ts", 0, "node_modules/b/x.js"),
    file("node_modules/@scope/a/index.js", 5, "node_modules/@scope/a/node_modules/c/c.js", "node_modules/d/d.js"),
    file("node_modules/@scope/a/node_modules/c/c.js", 1),
    file("node_modules/b/x.js", 1, "node_modules/b/y.js"),
    file("node_modules/b/y.js", 1),
    file("node_modules/d/d.js", 0, "node_modules/e/e.js"),
    file("node_modules/e/e.js", 7),
  ];
  expect(linkedPackages(files)).toEqual({
    packages: [
      { place: "node_modules/@scope/a", imports: ["node_modules/@scope/a/node_modules/c"] },
      { place: "node_modules/@scope/a/node_modules/c", imports: [] },
      { place: "node_modules/b", imports: [] },
      { place: "node_modules/e", imports: [] },
    ],
    // The bundle contains nothing of d, which imports e, but e still needs a parent.
    direct: ["node_modules/@scope/a", "node_modules/b", "node_modules/e"],
  });
});

test("a package outside the project is in no lock file and cannot be linked in", () => {
  expect(() => linkedPackages([file("../other/node_modules/x/x.js", 1)])).toThrow("package-lock.json does not name");
});

const licences = [
  { licence: "MIT", objection: null },
  { licence: "(MIT OR Apache-2.0)", objection: null },
  { licence: "MIT AND (BSD-3-Clause OR ISC)", objection: null },
  { licence: "MIT OR GPL-2.0-only", objection: 'its licence is "MIT OR GPL-2.0-only"' },
  { licence: "MIT WITH something", objection: 'its licence is "MIT WITH something"' },
  { licence: "SEE LICENSE IN LICENSE", objection: "its licence is" },
  { licence: "", objection: "it names no licence" },
  { licence: { type: "MIT" }, objection: "it names no licence" },
];

test.for(licences)("the licence $licence is judged as expected", ({ licence, objection }) => {
  if (objection === null) expect(licenceObjection(licence)).toBe(null);
  else expect(licenceObjection(licence)).toContain(objection);
});

const integrity = `sha512-${Buffer.alloc(64, 1).toString("base64")}`;
const packageStates = [
  { name: "other than pinned", locked: { version: "1.0.1", integrity }, license: "MIT", says: "names version 1.0.1" },
  { name: "pinned by SHA-1", locked: { version: "1.0.0", integrity: "sha1-abc" }, license: "MIT", says: "no SHA-512" },
  { name: "without licence", locked: { version: "1.0.0", integrity }, license: undefined, says: "names no licence" },
  { name: "copyleft", locked: { version: "1.0.0", integrity }, license: "GPL-3.0-only", says: "GPL-3.0-only" },
];

test.for(packageStates)("a package that is $name ends the build", async ({ name, locked, license, says }) => {
  const project = join(folder.path, name.replaceAll(" ", "-"));
  const place = "node_modules/@some/thing";
  mkdirSync(join(project, place), { recursive: true });
  const packages = locked ? { [place]: locked } : {};
  writeFileSync(join(project, "package-lock.json"), JSON.stringify({ packages }));
  writeFileSync(
    join(project, place, "package.json"),
    JSON.stringify({ name: "@some/thing", version: "1.0.0", license }),
  );
  await expect(readPackageFacts(place, project)).rejects.toThrow(says);
  const right = { packages: { [place]: { version: "1.0.0", integrity } } };
  writeFileSync(join(project, "package-lock.json"), JSON.stringify(right));
  writeFileSync(join(project, place, "package.json"), '{"name":"@some/thing","version":"1.0.0","license":"MIT"}');
  expect(await readPackageFacts(place, project)).toMatchObject({ purl: "pkg:npm/%40some/thing@1.0.0" });
});

test("deferred modules are numbered by name, in whatever order the bundler finds them", async () => {
  const source = join(folder.path, "two-deferred");
  mkdirSync(source);
  // The bundler finds this one first, but finishes it last, because it imports more.
  writeFileSync(join(source, "z.deferred.ts"), `export const z = (): string => "of z";`);
  const manyLines = Array.from({ length: 4000 }, (_, at) => `export const a${at} = (): string => "of a ${at}";`);
  writeFileSync(join(source, "a.deferred.ts"), manyLines.join("\n"));
  const uses = [`import { z } from "./z.deferred.ts";`, `import { a7 } from "./a.deferred.ts";`];
  writeFileSync(join(source, "index.ts"), [...uses, "export const probe = () => [z(), a7()];"].join("\n"));
  const tool = { name: "Probe", export: "probe", audience: "model", description: "" } as const;
  const family: Family = {
    name: "probe",
    version: "0.0.0",
    tools: [{ ...tool, scopes: [], rights: [], input: z.unknown(), output: z.unknown() }],
  };
  const { deferred, script } = await bundlePlugin(source, family, []);
  expect(deferred.map((each) => /of [az]/.exec(each)?.[0])).toEqual(["of a", "of z"]);
  expect(script).not.toContain("deferred ");
});
