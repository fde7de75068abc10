/** `memcell history`, `diff`, `restore` and `undo`: what happened to a user's files, and how it is taken back. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { cellsIn, commandStage, errorOf } from "./command-stage.ts";

const source = "https://example.com/%1b[31mred";

/** A run has replaced one entry and made another, and others have changed a third since. */
async function stage() {
  const at = commandStage();
  const policy = trustingPolicy({ active: "tool_external" });
  const options = { dataDir: at.dataDir, policy, threadsMax: 1, clock: () => Date.UTC(2026, 0, 2) };
  await using runtime = await createRuntime(options);
  const write = async (name: string, body: string, run: string): Promise<void> => {
    const input = { action: "upsert", name, type: "user", description: body, body };
    const origin =
      run === "bad" ? ({ class: "tool_external", run, source } as const) : ({ class: "direct_user", run } as const);
    expect(await runtime.call("UpdateUserMemory", input, { userId: "alice", origin })).toMatchObject({ ok: true });
  };
  for (const name of ["editor", "shared"]) await write(name, "Helix", "good");
  for (const name of ["editor", "shared", "new"]) await write(name, "Vim", "bad");
  await write("shared", "Emacs", "good");
  return Object.assign(at, {
    run: (name: string, ...args: readonly string[]) => at.memcell(name, "--user", "alice", ...args),
    textOf: (name: string): string => readFileSync(join(at.home("alice"), `memory/${name}.md`), "utf8"),
  });
}

test("history prints an entry's versions, the latest first, with trust, tool, run and source", async () => {
  using at = await stage();
  const { status, stdout } = await at.run("history", "editor");
  expect(status).toBe(0);
  const [time, tool] = ["2026-01-02T00:00:00.000Z", "UpdateUserMemory"];
  expect(cellsIn(stdout)).toEqual([
    ["time", "version", "change", "file", "trust", "by", "run or source"],
    [time, "3", "changed", "memory/editor.md", "tool_external", tool, "bad", source],
    [time, "1", "new", "memory/editor.md", "direct_user", tool, "good"],
  ]);
  const all = JSON.parse((await at.run("history", "--json")).stdout) as { path: string; callId: string }[];
  expect(new Set(all.map(({ path }) => path))).toEqual(new Set(["editor.md", "MEMORY.md", "new.md", "shared.md"]));
  expect(all.every(({ callId }) => callId.length > 0)).toBe(true);
});

test("diff shows what a version has changed, and restore puts a version back", async () => {
  using at = await stage();
  const changed = await at.run("diff", "editor", "before", "3");
  expect(changed.stdout.split("\n").filter((line) => /^[-+]/.test(line) && !/updated/.test(line))).toEqual([
    "--- memory/editor.md (before version 3)",
    "+++ memory/editor.md (version 3)",
    "-description: Helix",
    "+description: Vim",
    "-Helix",
    "+Vim",
  ]);
  expect(await at.run("restore", "editor", "--version", "1")).toMatchObject({
    status: 0,
    stdout: "memory/editor.md: replaced, as in version 1\n",
  });
  const same = await at.run("diff", "editor", "1", "--json");
  expect(JSON.parse(same.stdout)).toMatchObject({ path: "editor.md", lines: [] });
  const restored = await at.run("restore", "editor", "--version", "3", "--json");
  expect(JSON.parse(restored.stdout)).toEqual({ scope: "memory", path: "editor.md", seq: 3, outcome: "replaced" });
  expect((await at.run("history", "editor")).stdout.split("\n")[1]).toMatch(
    / {2}restored {2}memory\/editor\.md {2}tool_external {2}restoreVersion$/,
  );
});

const planned =
  "restore memory/editor.md\n" +
  "trash memory/new.md\n" +
  "update memory/MEMORY.md\n" +
  "keep memory/shared.md: changed since by version 6\n" +
  "1 restored, 1 to the trash, 1 kept, 0 left, 0 rejected\n";

test("undo shows its plan and changes nothing, does it with --yes, and then has nothing left to do", async () => {
  using at = await stage();
  const before = treeFingerprint(at.dataDir);
  const stdout = `${planned}Nothing was changed; use --yes to undo\n`;
  expect(await at.run("undo", "--run", "bad")).toEqual({ status: 0, stderr: "", stdout });
  expect(treeFingerprint(at.dataDir)).toEqual(before);
  const json = await at.run("undo", "--source", source, "--json");
  expect(JSON.parse(json.stdout)).toEqual({
    restored: ["memory/editor.md"],
    trashed: ["memory/new.md"],
    derived: ["memory/MEMORY.md"],
    builtOn: [{ path: "memory/shared.md", versions: [6] }],
    left: [],
    waiting: [],
  });
  // Others have built on one of the files, so not all of it is gone.
  expect(await at.run("undo", "--run", "bad", "--yes")).toMatchObject({ status: 1, stdout: `${planned}Undone\n` });
  expect(at.textOf("MEMORY")).toBe("- [editor](editor.md) — Helix\n- [shared](shared.md) — Emacs\n");
  const again = await at.run("undo", "--run", "bad", "--yes", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ restored: [], trashed: [], derived: [], left: [] });
  expect(await at.run("undo", "--since", "2026-01-02", "--yes")).toMatchObject({ status: 0 });
  expect(() => at.textOf("editor")).toThrow("ENOENT");
});

test("what no version has is an error", async () => {
  using at = await stage();
  for (const [name = "", ...args] of [
    ["history", "none"],
    ["diff", "none", "1"],
    ["restore", "editor", "--version", "2"],
    ["undo", "--run", "none", "--yes"],
  ]) {
    expect(errorOf(await at.run(name, ...args)).code).toBe("ENTRY_NOT_FOUND");
  }
  expect(errorOf(await at.run("history", "--scope", "x")).code).toBe("INPUT_INVALID");
});
