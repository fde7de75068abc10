/** The README's program and its commands do what they say. */
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

test("the README's program runs and leaves the files that the README shows", () => {
  const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  // Inside the project's own output, so that Node finds the package by its name.
  const file = join(projectFolder, "dist", "readme-program.mjs");
  writeFileSync(file, `${program}\nconsole.log(JSON.stringify(result));\n`);
  const output = execFileSync(process.execPath, [file], { cwd: folder.path, encoding: "utf8" });
  expect(JSON.parse(output)).toMatchObject({ ok: true, message: 'Memory entry "preferred-language" created' });
  const files = readUserFiles(join(folder.path, "data"), "alice");
  expect(files["memory/MEMORY.md"]).toBe(
    "- [preferred-language](preferred-language.md) \u2014 User prefers Japanese output\n",
  );
});

test("the README's commands are those of the package", () => {
  const { scripts } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as { scripts: object };
  for (const [, name = ""] of readme.matchAll(/npm (?:run )?(test|demo|build)/g)) expect(scripts).toHaveProperty(name);
  expect(readFileSync(join(projectFolder, ".ci", "run"), "utf8")).toContain("\nnpm ci && npm test\n");
  expect(readme).toContain("\nnpm ci && npm test\n");
  expect(readme).toContain("\nnpm ci && npm run demo\n");
});

test("the README shows what the audit of the shipped plugin prints", () => {
  const [shown = ""] = /^file {6}user-memory[\s\S]*?(?=\n```)/m.exec(readme) ?? [];
  const printed = execFileSync("npx", ["memcell", "audit", "user-memory"], { cwd: projectFolder, encoding: "utf8" });
  expect(withoutIdentity(shown)).toBe(withoutIdentity(printed.trimEnd()));
});

/** Each change of the plugin changes its hash, and mostly its size. */
const withoutIdentity = (audit: string): string =>
  audit.replaceAll(/[0-9a-f]{16,}/g, "HASH").replaceAll(/\d{6} bytes/g, "BYTES");

test("npx memcell works in the clone", () => {
  const input = '{"name":"preferred-language"}';
  const args = [
    "memcell",
    "call",
    "ReadUserMemory",
    "--user",
    "alice",
    "--data",
    join(folder.path, "data"),
    "--input",
    input,
  ];
  const output = execFileSync("npx", args, { cwd: projectFolder, encoding: "utf8" });
  expect(JSON.parse(output)).toMatchObject({ ok: true, data: { name: "preferred-language" } });
});
