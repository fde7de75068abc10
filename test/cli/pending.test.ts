/** `memcell pending`: the owner sees what a page would change, and approves exactly that. */
import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { waitingId } from "../support/waiting-id.ts";
import { cellsIn, commandStage, errorOf } from "./command-stage.ts";
import type { CommandStage } from "./command-stage.ts";

const web = { class: "tool_external", run: "run-7", source: "https://example.com/menu" } as const;

function stage() {
  const at = commandStage();
  return Object.assign(at, {
    pending: (...args: readonly string[]) => at.memcell("pending", "--user", "alice", ...args),
  });
}

/** Writes a menu as the user, and another one as a web page says, which waits. Returns its id. */
async function menu({ dataDir }: CommandStage, mine: string, ofPage?: string): Promise<string> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  const write = (body: string, origin: typeof web | { readonly class: "direct_user" }) => {
    const entry = { action: "upsert", name: "menu", type: "reference", description: "d", body };
    return runtime.call("UpdateUserMemory", entry, { userId: "alice", origin });
  };
  await write(mine, { class: "direct_user" });
  return ofPage === undefined ? "" : waitingId(await write(ofPage, web));
}

test("lists what waits, shows what it would change, and applies exactly that", async () => {
  using at = stage();
  const id = await menu(at, "Bread\nand wine", "Soup\nand wine");
  expect(cellsIn((await at.pending("list")).stdout)).toEqual([
    ["id", "time", "tool", "trust", "files", "run or source"],
    [id, expect.any(String), "UpdateUserMemory", "tool_external", "memory/menu.md", web.run, web.source],
    ["1 write"],
  ]);
  const { stdout } = await at.pending("show", id);
  expect(stdout).toContain("origin   tool_external, trusted as tool_external\n");
  expect(stdout).toContain("\nreplace memory/menu.md\n@@ ");
  expect(stdout).toMatch(/\n-Bread\n\+Soup\n and wine\n/);
  expect(stdout).not.toContain("MEMORY.md");
  const json = await at.pending("show", id, "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ id, isCurrent: true, files: [{}, {}] });
  expect(await at.pending("approve", id)).toMatchObject({ status: 0, stdout: `Applied ${id}: memory/menu.md\n` });
  expect((await at.pending("list")).stdout).toBe("No write waits\n");
  expect(errorOf(await at.pending("approve", id)).code).toBe("ENTRY_NOT_FOUND");
});

test("shows again what has changed since, and drops what is rejected", async () => {
  using at = stage();
  const id = await menu(at, "Bread", "Soup");
  await menu(at, "Cake");
  const shown = await at.pending("approve", id);
  expect(shown.status).toBe(1);
  expect(shown.stdout).toMatch(/^Nothing was applied: .*It waits as w-/);
  expect(shown.stdout).toMatch(/\n-Cake\n\\ No newline at end of file\n\+Soup\n/);
  const waiting = JSON.parse((await at.pending("list", "--json")).stdout) as { id: string }[];
  expect(waiting).toHaveLength(1);
  expect(waiting[0]?.id).not.toBe(id);
  const again = waiting[0]?.id ?? "";
  expect(await at.pending("reject", again)).toMatchObject({ status: 0, stdout: `Dropped ${again}\n` });
  expect((await at.pending("list", "--json")).stdout).toBe("[]\n");
});
