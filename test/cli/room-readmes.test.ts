/** The rooms' READMEs show real output. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { LogEntry, PolicyFile } from "memcell";
import { expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { readUserFiles } from "../support/user-files.ts";

test("host/report/README.md shows the audit of the shipped plugin as it is printed, with its hashes and sizes", async () => {
  const shown = blocksIn(textOf("host/report/README.md")).find(({ language }) => language === "")?.text;
  expect(shown).toBe((await memcell(["audit", "user-memory"])).stdout.trimEnd());
});

test("the policy in host/plugins/policy/README.md leaves one tool of the shipped plugin, in the README's words", async () => {
  const readme = textOf("host/plugins/policy/README.md");
  const [example, warning, refusal] = blocksIn(readme).map(({ text }) => text);
  const policy = JSON.parse(example ?? "") as PolicyFile;
  using folder = temporaryFolder();
  const lines: string[] = [];
  const onLog = ({ level, tool, text }: LogEntry): void => void lines.push(`${level} ${tool}: ${text}`);
  const options = { dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1, onLog };
  await using runtime = await createRuntime({ ...options, policy });
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadUserMemory"]);
  expect(warning).toBe(lines[0]);
  const strict = createRuntime({ ...options, policy: { ...policy, strict: true } });
  await expect(strict).rejects.toMatchObject({ message: refusal });
});

const day = (): number => Date.UTC(2026, 10, 22);

test("host/runtime/README.md shows the paths of what the families store", async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, clock: day });
  const alice = { userId: "alice" };
  const entry = { type: "user", description: "Prefers Japanese", body: "Answer in Japanese." };
  for (const name of ["language", "gone"]) {
    expect(await runtime.call("UpdateUserMemory", { action: "upsert", name, ...entry }, alice)).toMatchObject({
      ok: true,
    });
  }
  await runtime.call("UpdateUserMemory", { action: "delete", name: "gone" }, alice);
  for (const target of ["daily", "summary"])
    await runtime.call("memory_write", { key: target, content: "c", target }, alice);
  const events = [{ type: "planner_note", data: '{"note":"n"}' }];
  await runtime.callAsHost("AppendRunEvents", { agentId: "planner", runId: "run-1", events }, alice);
  const own = storeIdOf("alice");
  await runtime.stores(alice).grant("planner", { level: "readwrite" });
  await runtime.call("memory", { command: "create", path: "/memories/projects/plan.md", content: "1. Read" }, alice);
  const shared = `/memories/shared/${own}/projects/plan.md`;
  await runtime.call("memory", { command: "create", path: shared, content: "2. Write" }, { userId: "planner" });
  await runtime.stores(alice).setInternal(null, "k", "v");

  const tree = blocksIn(textOf("host/runtime/README.md")).at(-1)?.text ?? "";
  const lines = tree.replaceAll("7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10", own).split("\n");
  let base = "";
  const absent: string[] = [];
  for (const line of lines) {
    const [, indent = "", names = ""] = /^( *)(.*?)(?: {2,}| [a-z]+[ :]|$)/.exec(line) ?? [];
    for (const name of names.replaceAll("…", own).replaceAll("<id>", storeIdOf("planner")).split(", ")) {
      if (indent === "") base = name;
      const path = indent === "" ? name : `${base}${name}`;
      if (!existsSync(join(folder.path, path))) absent.push(path);
    }
  }
  expect(lines.length).toBeGreaterThan(15);
  expect(absent).toEqual([]);
  const index = /^ {2}MEMORY\.md +(- .*)$/m.exec(tree)?.[1];
  expect(readUserFiles(dataDir, "alice")["memory/MEMORY.md"]).toBe(`${index}\n`);
});
