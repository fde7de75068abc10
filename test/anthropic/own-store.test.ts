/** What a person, a program or another tool has put into the user's own store: what the tool shows of it, and changes. */
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { create, insert, listed, missing, remove, rename, replace, shown, useMemcell, view } from "./tools.ts";

const newUser = useMemcell();

test("an edit and a rename keep what a person has noted in an entry", async () => {
  const tool = newUser();
  await tool.run(create("/memories/a", "1\n2"));
  const file = join(await tool.folder(), "a_.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("encrypted: false\n", "encrypted: false\nmood: good\n"));
  await tool.run(replace("/memories/a", "1", "one"));
  await tool.run(insert("/memories/a", 1, "more"));
  await tool.run(rename("/memories/a", "/memories/p/b"));
  await tool.run(rename("/memories/p", "/memories/q"));
  const moved = readFileSync(join(await tool.folder(), "q", "b_.md"), "utf8");
  expect(moved).toMatch(/^---\n[^]*\nmood: good\n[^]*---\none\nmore\n2$/);
});

test("a key that is a file and a directory is both: a slash at the end is the directory", async () => {
  const tool = newUser();
  await tool.remember({ command: "create", path: "/memories/a", content: "1" });
  await tool.remember({ command: "create", path: "/memories/a/b", content: "22" });
  expect(await tool.run(view("/memories"))).toBe(
    listed("/memories", "3B\t/memories", "1B\t/memories/a", "2B\t/memories/a/", "2B\t/memories/a/b"),
  );
  expect(await tool.run(view("/memories/a"))).toBe(shown("/memories/a", "     1\t1"));
  expect(await tool.run(view("/memories/a/"))).toBe(listed("/memories/a/", "2B\t/memories/a/", "2B\t/memories/a/b"));
  await tool.run(remove("/memories/a/"));
  expect(await tool.files()).toEqual({ a: "1" });
});

test("a link is no file", async () => {
  const tool = newUser();
  await tool.put({ "real.md": "text" });
  const folder = await tool.folder();
  symlinkSync("real.md", join(folder, "link.md"));
  symlinkSync(dirname(folder), join(folder, "up"));
  expect(await tool.run(view("/memories"))).toBe(listed("/memories", "4B\t/memories", "4B\t/memories/real.md"));
  expect(await tool.run(view("/memories/link.md"))).toBe(missing("/memories/link.md"));
  expect(await tool.run(remove("/memories/link.md"))).toBe("✗ The path /memories/link.md does not exist");
  const answer = await tool.run(create("/memories/link.md", "x"));
  expect(answer).toMatch(/^✗ Cannot write \/memories\/link\.md/);
  expect(await tool.run(create("/memories/up/x.md", "x"))).toMatch(/^✗ /);
  expect(answer).not.toContain(folder);
  expect(readFileSync(join(folder, "real.md"), "utf8")).toBe("text");
  expect(readdirSync(folder).toSorted()).toEqual(["link.md", "real.md", "up"]);
});

test("a text that a person has written can have more lines than the tool numbers", async () => {
  const tool = newUser();
  await tool.put({ "many.md": "\n".repeat(1_000_000), "long.md": "é".repeat(200_000) });
  expect(await tool.run(view("/memories/many.md"))).toBe(
    "✗ File /memories/many.md exceeds maximum line limit of 999,999 lines.",
  );
  expect(await tool.run(view("/memories/long.md"))).toBe(
    shown(
      "/memories/long.md",
      `     1\t${"é".repeat(16_000)}`,
      "[line 1 is cut after 16000 of 200000 characters: view_range [1, 1] shows more]",
    ),
  );
});
