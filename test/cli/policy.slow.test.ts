/** `--policy` of every command that opens a runtime. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const granting = policyFor(shippedNames().map((name) => shippedPlugin(name)));
const policies: Record<string, string> = {
  "granting.json": JSON.stringify(granting),
  "strict.json": JSON.stringify({ version: 1, strict: true, plugins: {} } satisfies PolicyFile),
  "empty.json": JSON.stringify({ version: 1, plugins: {} } satisfies PolicyFile),
  "raising.json": JSON.stringify({ ...granting, limits: { memoryPages: 1024 } }),
  "not-json.json": "{",
};
for (const [name, text] of Object.entries(policies)) writeFileSync(join(folder.path, name), text);

const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
const commands = [
  { name: "call", args: ["call", "UpdateUserMemory", "--user", "alice", "--input", JSON.stringify(entry)] },
  { name: "index", args: ["index", "--user", "alice"] },
  { name: "tools", args: ["tools"] },
  { name: "doctor", args: ["doctor"] },
  { name: "trash", args: ["trash", "list", "--user", "alice"] },
];

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function memcell(args: readonly string[]): Outcome {
  return spawnSync(process.execPath, [program, ...args], { cwd: folder.path, encoding: "utf8" });
}

test.for(commands)("$name runs under a policy that grants enough", ({ args }) => {
  expect(memcell([...args, "--policy", "granting.json"])).toMatchObject({ status: 0, stderr: "" });
});

test.for(
  commands.flatMap(({ name, args }) => [
    { name, args, file: "strict.json", says: 'the policy "strict.json" does not name the plugin "' },
    { name, args, file: "raising.json", says: "limits.memoryPages is 1024, allowed: a whole number from 1 to 512" },
    { name, args, file: "not-json.json", says: 'Cannot use policy "not-json.json": it is not JSON' },
    { name, args, file: "absent.json", says: 'Cannot use policy "absent.json": it cannot be read' },
  ]),
)("$name under $file is a coded error with exit code 1", ({ args, file, says }) => {
  const { status, stdout, stderr } = memcell([...args, "--policy", file]);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  const message = expect.stringContaining(says) as string;
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "PLUGIN_REFUSED", message } });
  expect(stdout).not.toContain(folder.path);
});

test.for(commands)("$name under a policy that names no plugin says so, on standard error", ({ args }) => {
  const { status, stderr } = memcell([...args, "--policy", "empty.json"]);
  expect(stderr).toBe(
    'warn policy: user-memory: the policy "empty.json" does not name the plugin "user-memory", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy): none of its tools is available\n',
  );
  // Without the plugin, the doctor cannot judge the entries that are there.
  expect(status).toBe(["call", "index", "doctor"].includes(args[0] ?? "") ? 1 : 0);
});

test.for(commands)("$name documents --policy and refuses an empty one", ({ name, args }) => {
  expect(memcell([name, "--help"]).stdout).toMatch(/^ {2}--policy <PATH> /m);
  expect(memcell([...args, "--policy", ""])).toMatchObject({ status: 2, stdout: "" });
});
