/** `memcell diff`, `restore` and `undo` on the command line. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const source = "https://example.com/";

/** A data folder in which a run has replaced one entry, made another, and others have changed a third since. */
async function stage() {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const policy = trustingPolicy({ active: "tool_external" });
  await using runtime = await createRuntime({ dataDir, policy, clock: () => Date.UTC(2026, 0, 2) });
  const write = async (name: string, body: string, run: string): Promise<void> => {
    const input = { action: "upsert", name, type: "user", description: body, body };
    const origin = { class: "tool_external", run, source: run === "bad" ? source : undefined } as const;
    expect(await runtime.call("UpdateUserMemory", input, { userId: "alice", origin })).toMatchObject({ ok: true });
  };
  for (const name of ["editor", "shared"]) await write(name, "Helix", "good");
  for (const name of ["editor", "shared", "new"]) await write(name, "Vim", "bad");
  await write("shared", "Emacs", "good");
  return {
    dataDir,
    memcell: (...args: readonly string[]) =>
      spawnSync(process.execPath, [program, ...args, "--user", "alice", "--data", dataDir], { encoding: "utf8" }),
    textOf: (name: string): string => readFileSync(join(userFolder(dataDir, "alice"), `memory/${name}.md`), "utf8"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const planned =
  "restore memory/editor.md\n" +
  "trash memory/new.md\n" +
  "update memory/MEMORY.md\n" +
  "keep memory/shared.md: changed since by version 7\n" +
  "1 restored, 1 to the trash, 1 kept, 0 left, 0 rejected\n";

test("undo shows its plan and changes nothing, does it with --yes, and then has nothing left to do", async () => {
  using at = await stage();
  const before = treeFingerprint(at.dataDir);
  const plan = at.memcell("undo", "--run", "bad");
  expect(plan).toMatchObject({ status: 0, stderr: "", stdout: `${planned}Nothing was changed; use --yes to undo\n` });
  expect(treeFingerprint(at.dataDir)).toEqual(before);
  const json = at.memcell("undo", "--source", source, "--json");
  expect(JSON.parse(json.stdout)).toEqual({
    restored: ["memory/editor.md"],
    trashed: ["memory/new.md"],
    derived: ["memory/MEMORY.md"],
    builtOn: [{ path: "memory/shared.md", versions: [7] }],
    left: [],
    waiting: [],
  });
  // Others have built on one of the files, so not all of it is gone.
  expect(at.memcell("undo", "--run", "bad", "--yes")).toMatchObject({ status: 1, stdout: `${planned}Undone\n` });
  expect(at.textOf("editor")).toContain("Helix");
  expect(at.textOf("MEMORY")).toBe("- [editor](editor.md) — Helix\n- [shared](shared.md) — Emacs\n");
  const again = at.memcell("undo", "--run", "bad", "--yes", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ restored: [], trashed: [], derived: [], left: [] });
  expect(at.memcell("undo", "--since", "2026-01-02", "--yes")).toMatchObject({ status: 0 });
  expect(() => at.textOf("editor")).toThrow("ENOENT");
});

test("diff shows what a version has changed, and restore puts a version back", async () => {
  using at = await stage();
  const changed = at.memcell("diff", "editor", "before", "3");
  expect(changed.stdout.split("\n").filter((line) => /^[-+]/.test(line) && !/updated/.test(line))).toEqual([
    "--- memory/editor.md (before version 3)",
    "+++ memory/editor.md (version 3)",
    "-description: Helix",
    "+description: Vim",
    "-Helix",
    "+Vim",
  ]);
  expect(at.memcell("restore", "editor", "--version", "1")).toMatchObject({
    status: 0,
    stdout: "memory/editor.md: replaced, as in version 1\n",
  });
  expect(JSON.parse(at.memcell("diff", "editor", "1", "--json").stdout)).toMatchObject({
    path: "editor.md",
    lines: [],
  });
  const restored = at.memcell("restore", "editor", "--version", "3", "--json");
  expect(JSON.parse(restored.stdout)).toEqual({ scope: "memory", path: "editor.md", seq: 3, outcome: "replaced" });
  const history = at.memcell("history", "editor").stdout.split("\n").slice(1, 3);
  const shown = "  restored  memory/editor.md  tool_external  restoreVersion";
  expect(history.every((line) => line.endsWith(shown))).toBe(true);
});

test("command lines that say nothing or too much are refused before anything is opened", async () => {
  using at = await stage();
  for (const args of [
    ["undo"],
    ["undo", "--run", "bad", "--since", "2h"],
    ["undo", "--since", "yesterday"],
    ["diff", "editor", "before"],
    ["diff", "editor", "first"],
    ["restore", "editor"],
    ["restore", "editor", "--version", "0"],
  ]) {
    expect(at.memcell(...args), args.join(" ")).toMatchObject({ status: 2, stdout: "" });
  }
  for (const args of [
    ["undo", "--run", "none", "--yes"],
    ["diff", "none", "1"],
    ["restore", "editor", "--version", "2"],
  ]) {
    const { status, stdout } = at.memcell(...args);
    expect({ status, ...JSON.parse(stdout) }, args.join(" ")).toMatchObject({
      status: 1,
      error: { code: "ENTRY_NOT_FOUND" },
    });
  }
});
