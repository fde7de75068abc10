/** End to end: the shipped journal in a workspace, through the command, next to files as agentool writes them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("memcell call --mount reads what agentool wrote and writes next to it", async () => {
  using folder = temporaryFolder();
  const dir = join(folder.path, "ws", ".agent", "memory");
  const block =
    "### editor\n\nThe user writes code in Helix.\n\n<!-- agentool-memory: at=2026-01-02T03:04:05+00:00 tags=tools -->\n\n";
  mkdirSync(join(dir, "2026/01"), { recursive: true });
  writeFileSync(join(dir, "2026/01/02.md"), block);
  const call = async (tool: string, input: object, user = "alice"): Promise<unknown> => {
    const place = ["--plugin", "journal", "--mount", `journal=${dir}`];
    const args = ["call", tool, "--user", user, ...place, "--input", JSON.stringify(input)];
    const { stdout } = await memcell(args, { cwd: folder.path });
    return JSON.parse(stdout);
  };
  expect(await call("memory_read", { key: "editor" })).toMatchObject({
    ok: true,
    data: { success: true, data: { content: "The user writes code in Helix.", file: "2026/01/02.md" } },
  });
  expect(await call("memory_write", { key: "shell", content: "fish", target: "summary" })).toMatchObject({ ok: true });
  expect(readFileSync(join(dir, "2026/01/02.md"), "utf8")).toBe(block);
  expect(readFileSync(join(dir, "MEMORY.md"), "utf8")).toMatch(/^### shell\n\nfish\n\n<!-- agentool-memory: at=/);
  expect(existsSync(join(folder.path, "data"))).toBe(false);
  // The user id decides who owns the folder.
  expect(await call("memory_read", { key: "editor" }, "bob")).toMatchObject({
    ok: false,
    error: { code: "STORAGE_UNSAFE" },
  });
});
