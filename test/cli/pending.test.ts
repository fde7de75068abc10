/** `memcell pending` on the command line. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterEach, beforeEach, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const web = { class: "tool_external", run: "run-7", source: "https://example.com/menu" } as const;

let folder = temporaryFolder();
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder[Symbol.dispose]());

const pending = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, "pending", ...args, "--user", "alice", "--data", folder.path], {
    encoding: "utf8",
  });

/** Writes as the user, and then as a web page says. Returns what waits. */
async function menu(...bodies: readonly [mine: string, ofPage: string]): Promise<string> {
  await using runtime = await createRuntime({ dataDir: folder.path });
  const ids: string[] = [];
  for (const [at, body] of bodies.entries()) {
    const entry = { action: "upsert", name: "menu", type: "reference", description: "d", body };
    const origin = at === 0 ? ({ class: "direct_user" } as const) : web;
    const answer = await runtime.call("UpdateUserMemory", entry, { userId: "alice", origin });
    if (!answer.ok && answer.pending) ids.push(answer.pending.id);
  }
  return ids.join();
}

test("lists what waits, shows what it would change, and applies exactly that", async () => {
  const id = await menu("Bread\nand wine", "Soup\nand wine");
  expect(
    pending("list")
      .stdout.split("\n")
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ["id", "time", "tool", "trust", "files", "run or source"],
    [
      id,
      expect.any(String),
      "UpdateUserMemory",
      "tool_external",
      "memory/menu.md",
      "run-7",
      "https://example.com/menu",
    ],
    ["1 write"],
    [""],
  ]);
  const { stdout } = pending("show", id);
  expect(stdout).toContain("origin   tool_external, trusted as tool_external\n");
  expect(stdout).toContain("\nreplace memory/menu.md\n@@ ");
  expect(stdout).toMatch(/\n-Bread\n\+Soup\n and wine\n/);
  expect(stdout).not.toContain("MEMORY.md");
  expect(JSON.parse(pending("show", id, "--json").stdout)).toMatchObject({ id, isCurrent: true, files: [{}, {}] });
  expect(pending("approve", id)).toMatchObject({ status: 0, stdout: `Applied ${id}: memory/menu.md\n` });
  expect(pending("list").stdout).toBe("No write waits\n");
  const again = pending("approve", id);
  expect(again.status).toBe(1);
  expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: "ENTRY_NOT_FOUND" } });
});

test("shows again what has changed since, and drops what is rejected", async () => {
  const id = await menu("Bread", "Soup");
  await menu("Cake", "Cake");
  const shown = pending("approve", id);
  expect(shown.status).toBe(1);
  expect(shown.stdout).toMatch(/^Nothing was applied: .*It waits as w-/);
  expect(shown.stdout).toMatch(/\n-Cake\n\\ No newline at end of file\n\+Soup\n/);
  const ids = (JSON.parse(pending("list", "--json").stdout) as { id: string }[]).map((each) => each.id);
  expect(ids).toHaveLength(2);
  expect(ids).not.toContain(id);
  for (const each of ids) expect(pending("reject", each)).toMatchObject({ status: 0, stdout: `Dropped ${each}\n` });
  expect(pending("list", "--json").stdout).toBe("[]\n");
});

test.for([
  { args: [], said: "missing required argument 'list|show|approve|reject'" },
  { args: ["allow"], said: 'no action "allow", allowed: list, show, approve, reject' },
  { args: ["show"], said: "the id of a write that waits is missing" },
  { args: ["list", "w-1"], said: 'unexpected argument "w-1"' },
])("pending $args is a usage error", ({ args, said }) => {
  const { status, stderr } = pending(...args);
  expect(status).toBe(2);
  expect(stderr).toContain(said);
});
