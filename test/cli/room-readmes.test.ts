/** The rooms' READMEs show real output. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import type { LogEntry, PolicyFile } from "memcell";
import { expect, test } from "vitest";

import { codeIn, tablesIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

test("host/report/README.md shows the real audit of the shipped plugin", () => {
  const [shown = ""] = /^file {6}user-memory[\s\S]*?(?=\n```)/m.exec(textOf("host/report/README.md")) ?? [];
  const printed = execFileSync("npx", ["memcell", "audit", "user-memory"], { cwd: projectFolder, encoding: "utf8" });
  expect(withoutIdentity(shown)).toBe(withoutIdentity(printed.trimEnd()));
});

test("host/cli/README.md lists the commands that the help lists", () => {
  const help = execFileSync("npx", ["memcell", "--help"], { cwd: projectFolder, encoding: "utf8" });
  const commands = Array.from(help.matchAll(/^ {2}([a-z]+(?: verify)?) {2,}/gm), ([, name]) => name);
  const rows = tablesIn(textOf("host/cli/README.md"))[0]?.map(([name = ""]) => codeIn(name)[0]);
  expect(rows).toEqual(commands);
});

/** Removes hash and size, which change with the plugin. */
const withoutIdentity = (audit: string): string =>
  audit.replaceAll(/[0-9a-f]{16,}/g, "HASH").replaceAll(/\d{6,7} bytes/g, "BYTES");

test("the policy in host/plugins/policy/README.md leaves one tool of the shipped plugin, in the README's words", async () => {
  const readme = textOf("host/plugins/policy/README.md");
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(readme) ?? [];
  const policy = JSON.parse(example) as PolicyFile;
  using folder = temporaryFolder();
  const lines: string[] = [];
  const onLog = ({ level, tool, text }: LogEntry): void => void lines.push(`${level} ${tool}: ${text}`);
  const options = { dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1, onLog };
  await using runtime = await createRuntime({ ...options, policy });
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadUserMemory"]);
  const [, shown = ""] = /```\n(warn policy: [\s\S]*?)\n```/.exec(readme) ?? [];
  expect(shown).toBe(lines[0]);
  const strict = createRuntime({ ...options, policy: { ...policy, strict: true } });
  const words = 'the policy does not name the tool "UpdateUserMemory", so it grants it nothing';
  await expect(strict).rejects.toThrow(`Cannot load plugin "user-memory.wasm": ${words}`);
  expect(readme).toContain(`Cannot load plugin "user-memory.wasm": ${words}`);
});
