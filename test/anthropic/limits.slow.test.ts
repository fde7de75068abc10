/** The largest memories: what takes seconds. */
import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { create, insert, remove, rename, useMemcell, view } from "./tools.ts";
import type { MemcellTool } from "./tools.ts";

const newUser = useMemcell();

/** Puts the files `p/0000.md`, `p/0001.md` and so on. */
async function fill(tool: MemcellTool, count: number, text: string): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `p/${String(at).padStart(4, "0")}.md`);
  await tool.put(Object.fromEntries(names.map((name) => [name, text])));
}

test("a full memory takes no further file, but everything else is done", async () => {
  const tool = newUser();
  await fill(tool, 1000, "text");
  const listing = (await tool.run(view("/memories"))).split("\n");
  expect(listing).toHaveLength(1003);
  expect(listing[1]).toBe("3.9K\t/memories");
  expect(await tool.run(create("/memories/new", "x"))).toBe("✗ Key limit reached for this store");
  expect(await tool.run(rename("/memories/p/0000.md", "/memories/one"))).toMatch(/^Successfully renamed/);
  expect(await tool.run(insert("/memories/one", 1, "more"))).toBe("The file /memories/one has been edited.");
  expect(await tool.run(remove("/memories/one"))).toBe("Successfully deleted /memories/one");
  expect(await tool.run(create("/memories/new", "x"))).toBe("File created successfully at: /memories/new");
});

/** Where an entry is whose name is too long for a path: the name is in the front matter alone. */
const place = (key: string): string => `_.x/${createHash("sha256").update(key).digest("hex")}.md`;

test("if a listing does not fit into an answer, the rest is counted", async () => {
  const tool = newUser();
  const owner = await tool.storeId();
  const keys = Array.from({ length: 900 }, (_, at) => `${String(at).padStart(4, "0")}${"日".repeat(196)}`);
  const file = (key: string): string => `---\nkey: "${key}"\nowner: ${owner}\n---\n1`;
  await tool.put(Object.fromEntries(keys.map((key) => [place(key), file(key)])));
  const lines = (await tool.run(view("/memories"))).split("\n");
  const shown = lines.filter((line) => line.startsWith("1B\t/memories/"));
  expect(shown[0]).toBe(`1B\t/memories/${keys[0]}`);
  expect(lines.at(-1)).toBe(`[${900 - shown.length} more: view a directory of them]`);
});
