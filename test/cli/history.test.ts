/** `memcell history` on the command line. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

const history = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, "history", ...args, "--data", folder.path], { encoding: "utf8" });

const upsert = (name: string, body: string): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "d",
  body,
});

beforeAll(async () => {
  const policy = trustingPolicy({ active: "tool_external" });
  await using runtime = await createRuntime({ dataDir: folder.path, policy, clock: () => Date.UTC(2026, 0, 2) });
  const ctx = { userId: "alice" };
  const origin = { class: "direct_user", run: "run-7" } as const;
  await runtime.call("UpdateUserMemory", upsert("editor", "Helix"), { ...ctx, origin });
  const page = {
    class: "tool_external",
    source: "https://example.com/\u001b[31mred".replaceAll("\u001b", "%1b"),
  } as const;
  await runtime.call("UpdateUserMemory", upsert("editor", "Vim"), { ...ctx, origin: page });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "editor" }, ctx);
});

test("an entry's versions are printed by its name, the latest first, with trust, tool, run and source", () => {
  const { status, stdout } = history("editor", "--user", "alice");
  expect(status).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["time", "version", "change", "file", "trust", "by", "run or source"],
    [expect.any(String), "3", "gone", "memory/editor.md", "tool_external", "UpdateUserMemory"],
    [
      "2026-01-02T00:00:00.000Z",
      "2",
      "changed",
      "memory/editor.md",
      "tool_external",
      "UpdateUserMemory",
      "https://example.com/%1b[31mred",
    ],
    ["2026-01-02T00:00:00.000Z", "1", "new", "memory/editor.md", "direct_user", "UpdateUserMemory", "run-7"],
    [""],
  ]);
});

test("without a name, all files are printed; JSON has hashes and ids", () => {
  const { stdout } = history("--user", "alice", "--json");
  const versions = JSON.parse(stdout) as { path: string; sha256: string | null; callId: string }[];
  expect(new Set(versions.map(({ path }) => path.replace(/\.\d+T\d+Z/, "")))).toEqual(
    new Set(["editor.md", "MEMORY.md", "trash/editor.md"]),
  );
  expect(versions.every(({ callId }) => callId.length > 0)).toBe(true);
});

test("a name that no version has, and a scope that is none, are errors", () => {
  expect(history("none", "--user", "alice")).toMatchObject({ status: 1 });
  expect(JSON.parse(history("none", "--user", "alice").stdout)).toMatchObject({ error: { code: "ENTRY_NOT_FOUND" } });
  expect(JSON.parse(history("--user", "alice", "--scope", "x").stdout)).toMatchObject({
    error: { code: "INPUT_INVALID" },
  });
  expect(JSON.parse(history("--user", "nobody").stdout)).toMatchObject({ error: { code: "ENTRY_NOT_FOUND" } });
});
