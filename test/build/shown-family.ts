/** Checks a new family in a clone wherever a host shows memory. The family holds the text `greeting`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "vitest";

interface Ran {
  readonly status: number | null;
  readonly output: string;
}

function run(clone: string, command: string, ...args: readonly string[]): Ran {
  const all = ["dist/host/cli/main.js", command, ...args, "--data", "data"];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: clone, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

const succeeds = { status: 0 };
const loading = (family: string): readonly string[] => ["--plugin", "user-memory", "--plugin", family];

/** Checks the prompt, the doctor, the trash, export and import. */
export function expectOwnersView(clone: string, family: string): void {
  const memcell = (command: string, ...args: readonly string[]): Ran => run(clone, command, ...args, "--user", "alice");
  const scope = join(clone, "data", "users", "alice", family);
  // Maintenance knows the family without being told of it.
  const index = memcell("index", ...loading(family));
  expect(index.output).toContain(`<${family}>\n`);
  expect(index.output).toContain("- greeting: Good morning\n");
  expect(index.output).toContain("- [editor](editor.md) — Uses vim\n");

  writeFileSync(join(scope, "Odd.txt"), "x");
  const found = memcell("doctor", "--json");
  expect(found.output).toContain(`"${family}/Odd.txt"`);
  expect(found.output).toContain("it is none of <name>.txt");
  rmSync(join(scope, "Odd.txt"));

  mkdirSync(join(scope, "trash"));
  writeFileSync(join(scope, "trash", "old.20250101T000000000Z.txt"), "kept");
  expect(memcell("trash", "list")).toMatchObject({ status: 0, output: expect.stringContaining("old") });
  expect(memcell("trash", "restore", "old", "--scope", family)).toMatchObject(succeeds);
  expect(readFileSync(join(scope, "old.txt"), "utf8")).toBe("kept");

  expect(memcell("export", "all.zip")).toMatchObject(succeeds);
  const imported = run(clone, "import", "all.zip", "--yes", "--user", "bob");
  expect(imported).toMatchObject(succeeds);
  expect(readFileSync(join(clone, "data", "users", "bob", family, "greeting.txt"), "utf8")).toBe("Good morning");
  rmSync(join(clone, "all.zip"));
}

/** Checks with a real client that the index and the entries are resources, and that the index is in the prompt. */
export async function expectMcp(clone: string, family: string): Promise<void> {
  const server = [join(clone, "dist/host/cli/main.js"), "serve", "--user", "alice", "--data", join(clone, "data")];
  const args = [...server, ...loading(family)];
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: clone }));
  try {
    expect(client.getInstructions()).toContain(`\nThe ${family} keeps texts under names: `);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain(`${family.replaceAll("-", "_")}_read`);
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(
      expect.arrayContaining([`memory://${family}/index`, `memory://${family}/entry/greeting`, "memory://index"]),
    );
    const entry = await client.readResource({ uri: `memory://${family}/entry/greeting` });
    expect(JSON.stringify(entry)).toContain("Good morning");
    const index = await client.readResource({ uri: `memory://${family}/index` });
    expect(JSON.stringify(index)).toContain("- greeting: Good morning");
    const { prompts } = await client.listPrompts();
    const prompt = await client.getPrompt({ name: prompts[0]?.name ?? "" });
    expect(JSON.stringify(prompt)).toContain(`<${family}>`);
  } finally {
    await client.close();
  }
}
