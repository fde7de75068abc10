/** A tool's page: its tables follow the schemas. The build seals the page or reports its fault. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { buildPlugin } from "../../build/build-plugin.ts";
import { readFamilies } from "../../build/family.ts";
import { makeManifest, sealPlugin } from "../../build/seal.ts";
import { firstDifference, withTables } from "../../build/tool-page.ts";
import { fuelSection } from "../../shared/fuel-section.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

const familyText = `
import type { Family } from "${projectFolder}shared/manifest.ts";
import * as z from "${projectFolder}shared/zod.ts";

const tool = { audience: "model", description: "Says hello.", scopes: [], rights: [] } as const;
const input = z.strictObject({ name: z.described(z.string(), "Who is greeted") });
export const family: Family = {
  name: "greeter",
  version: "1.0.0",
  tools: [
    { ...tool, name: "Greet", export: "greet", input, output: z.strictObject({}) },
    { ...tool, name: "Silent", export: "silent", input, output: z.strictObject({}) },
  ],
};`;

const indexText = "export function greet(): number { return 0; }\nexport function silent(): number { return 0; }\n";

const marks = "<!-- parameters -->\n<!-- /parameters -->\n";

/** Creates the folder of a family whose tool `Greet` has this page. */
function familyWith(page: string, name: string): string {
  const place = join(folder.path, name);
  mkdirSync(join(place, "greeter"), { recursive: true });
  writeFileSync(join(place, "greeter", "family.ts"), familyText);
  writeFileSync(join(place, "greeter", "index.ts"), indexText);
  writeFileSync(join(place, "greeter", "Greet.md"), page);
  return place;
}

test("a page gets its tables once, is sealed unchanged, and the host returns it", async () => {
  const place = familyWith(`# Greet\n\n${marks}\nNaïve.\n`, "sealed");
  const [source] = await readFamilies(place, { writePages: true });
  if (!source) throw new Error("The family was not found");
  const page = readFileSync(join(place, "greeter", "Greet.md"), "utf8");
  expect(page).toContain("| `name` | string | yes |  | Who is greeted |\n");
  expect((await readFamilies(place)).map(({ family }) => family.tools[0]?.documentation)).toEqual([page]);
  const { wasm, manifest } = await buildPlugin(source, { optimise: false });
  expect(manifest.tools.map(({ documentation }) => documentation)).toEqual([page, undefined]);
  const file = join(folder.path, "greeter.wasm");
  writeFileSync(file, wasm);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect([runtime.documentation("Greet"), runtime.documentation("Silent")]).toEqual([page, null]);
});

test("a page whose tables differ from the schemas is refused, and the difference is named", async () => {
  const place = familyWith(`# Greet\n\n${marks}`, "stale");
  await readFamilies(place, { writePages: true });
  const file = join(place, "greeter", "Greet.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("Who is greeted", "Who is greeting"));
  await expect(readFamilies(place)).rejects.toThrow(
    'the tables of Greet.md are not up to date: line 9 is "| `name` | string | yes |  | Who is greeting |", ' +
      'the schemas say "| `name` | string | yes |  | Who is greeted |"',
  );
});

test.for([
  { name: "a page without a place for tables", page: "# Greet\n" },
  { name: "a page whose place has no end", page: "# Greet\n<!-- parameters -->\n" },
  { name: "a page with two places", page: `# Greet\n${marks}${marks}` },
])("$name is refused", async ({ name, page }) => {
  await expect(readFamilies(familyWith(page, name))).rejects.toThrow("Cannot write the tables of Greet.md");
});

/** A module as the build seals it last, without the engine, which takes seconds to link. */
const linked = assembleGuest(
  `(module (memory (export "memory") 1 2) (global (export "${fuelSection}") (mut i32) (i32.const 0))
    (func (export "greet") (result i32) (i32.const 0)) (func (export "silent") (result i32) (i32.const 0)))`,
  [],
);

const ownCode = (code: string) => [{ code, of: "QUOTA_EXCEEDED" as const, meaning: "The count is full." }];

test.for<readonly [name: string, text: string, errors: ReturnType<typeof ownCode>, message: string]>([
  ["hidden text", "now\u202egpj.exe", [], 'its tool "Greet" has the character U+202E in its doc'],
  ["text that is too long", "é".repeat(8_192), [], "bytes, at most 16384 allowed"],
  [
    "a code of the table as its own",
    "",
    ownCode("STORAGE_FULL"),
    "the error code STORAGE_FULL, which is one of the table",
  ],
  ["a code in small letters", "", ownCode("count_full"), "the form of ABI version 1 or 2, at errors.0.code"],
])("a family with %s is not sealed", async ([name, text, errors, message]) => {
  const [source] = await readFamilies(familyWith(`# Greet\n${text}\n${marks}`, name), { writePages: true });
  if (!source) throw new Error("The family was not found");
  const manifest = makeManifest({ ...source.family, errors }, { min: 1, max: 2 });
  await expect(sealPlugin(linked, manifest)).rejects.toThrow(message);
});

test("a folder whose name differs from its family's name is refused", async () => {
  const place = familyWith(`# Greet\n${marks}`, "renamed");
  renameSync(join(place, "greeter"), join(place, "other"));
  await expect(readFamilies(place, { writePages: true })).rejects.toThrow(
    'folder is "other", its family.ts says "greeter"',
  );
});

test("tables show types, limits and conditions, without line breaks or bars that would end a cell", () => {
  const input = {
    type: "object",
    required: ["a"],
    properties: {
      a: { type: ["string", "null"], maxLength: 65_536, description: "One\nline | only" },
      b: { enum: ["x", "y"], description: "Required for upsert. Which" },
      c: { type: "string", minLength: 1, maxLength: 3, pattern: "^(a|b)$" },
    },
  };
  const page = withTables(`before\n${marks}after\n`, { name: "Any", input, output: {} });
  expect(page).toContain("| `a` | string or null | yes | 0 to 65,536 characters | One line \\| only |\n");
  expect(page).toContain('| `b` | `"x"`, `"y"` | for upsert |  | Which |\n');
  expect(page).toContain("| `c` | string | no | 1 to 3 characters, `^(a\\|b)$` |  |\n");
  expect(withTables(page, { name: "Any", input, output: {} })).toBe(page);
  expect(firstDifference(page, page)).toBeNull();
  expect(firstDifference("a\nb", "a")).toBe('line 2 is "b", the schemas say ""');
});
