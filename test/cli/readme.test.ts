/** The README's program and its commands work as it says. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(projectFolder, "README.md"), "utf8");
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** The first block of a language, or the first without one, after a text. */
function blockAfter(mark: string, fence: string): string {
  // An opening fence has an empty line before it.
  const opening = `\n\n\`\`\`${fence}\n`;
  const start = readme.indexOf(opening, readme.indexOf(mark)) + opening.length;
  if (!readme.includes(mark) || start < opening.length) throw new Error(`The README has no block after "${mark}"`);
  return readme.slice(start, readme.indexOf("```", start));
}

test("the README has at most 130 lines", () => {
  expect(readme.split("\n").length - 1).toBeLessThanOrEqual(130);
});

test("the README's program prints what the README shows, and leaves an entry and its index", () => {
  // In the package's own folder, so that Node resolves the package's name.
  const file = join(projectFolder, "dist", "readme-program.mjs");
  writeFileSync(file, blockAfter("## Use it", "ts"));
  const output = execFileSync(process.execPath, [file], { cwd: folder.path, encoding: "utf8" });
  expect(output.trimEnd()).toBe(blockAfter("await runtime.close();", "").trimEnd());
  const files = readUserFiles(join(folder.path, "data"), "alice");
  expect(files["memory/MEMORY.md"]).toBe("- [language](language.md) \u2014 Prefers Japanese\n");
});

test("the demo prints the refusal that the README shows", () => {
  const demo = join(projectFolder, "dist", "test", "demo", "demo.js");
  const output = execFileSync(process.execPath, [demo], { cwd: folder.path, encoding: "utf8" });
  expect(output).toContain(blockAfter("A hostile plugin", ""));
});

test("the README's commands are those of the package", () => {
  const { scripts } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as { scripts: object };
  for (const [, name = ""] of readme.matchAll(/npm (?:run )?(test|demo|build|new-family)\b/g))
    expect(scripts).toHaveProperty(name);
  expect(readFileSync(join(projectFolder, ".ci", "run"), "utf8")).toContain("npm ci && npm test && npm run test:slow");
  expect(readme).toContain("`npm ci && npm test`");
  expect(readme).toContain("\nnpm ci && npm run demo\n");
});
