/** The owner of a memory looks for words in it, and adds a text of their own, whatever plugin keeps it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const stage = await openStage({ threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;
const { upkeep } = runtime;

test("what is added has a name and a description made of the text, is trusted as the owner's, and is found by its words", async () => {
  const ctx = { userId: stage.user() };
  const text = "# Mein Frühstück\n\nNur Haferbrei, ohne Nüsse.\n";
  const added = await upkeep.add(ctx, text);
  expect(added).toMatchObject({ name: "mein-fruhstuck", file: { path: "mein-fruhstuck.md", trust: "owner_edit" } });
  expect(await runtime.readEntry({ family: "user-memory", name: added.name }, ctx)).toMatchObject({
    description: "Mein Frühstück",
    type: "user",
    body: text,
  });
  const { entries, left } = await upkeep.search(ctx, "Haferbrei");
  const snippet = "# Mein Frühstück Nur Haferbrei, ohne Nüsse.";
  expect(entries).toMatchObject([{ name: added.name, description: "Mein Frühstück", snippet, file: added.file }]);
  expect(left).toEqual([]);
  expect((await upkeep.search(ctx, "Zebra")).entries).toEqual([]);
  expect(await runtime.memoryIndex(ctx, { family: "user-memory" })).toContain("mein-fruhstuck");
});

test("a new entry replaces none: a name of its own is refused if it is taken, and one that is made is another", async () => {
  const ctx = { userId: stage.user() };
  const add = async (text: string, name?: string): Promise<string> => (await upkeep.add(ctx, text, { name })).name;
  expect(await add("Likes tea.")).toBe("likes-tea");
  expect(await add("Likes tea!")).toBe("likes-tea-2");
  expect(await add("Likes coffee.", "Drinks")).toBe("Drinks");
  expect([await add("日本語"), await add("???"), await add("Memory")]).toEqual(["note", "note-2", "Memory-notes"]);
  await expect(add("Likes water.", "drinks")).rejects.toMatchObject({ code: "NAME_CONFLICT" });
  await expect(add("Likes water.", "MEMORY")).rejects.toMatchObject({ code: "NAME_RESERVED" });
  await expect(add("x".repeat(65_537))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(upkeep.add(ctx, "a", { family: "stores" })).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  await expect(runtime.asReadOnly().upkeep.add(ctx, "a")).rejects.toMatchObject({ code: "READ_ONLY" });
  expect((await upkeep.entries(ctx)).entries).toHaveLength(6);
  expect((await runtime.asReadOnly().upkeep.search(ctx, "tea")).entries).toHaveLength(2);
});

test("a note in a folder is listed, found and changed by the name that its plugin has made", async () => {
  const ctx = { userId: stage.user() };
  const folder = join(stage.dataDir, "users", ctx.userId, "memory", "Projekte");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "Über mich.md"), "Ich mag Tee\n");
  const path = "Projekte/%C3%9Cber%20mich.md";
  expect((await upkeep.entries(ctx)).entries).toMatchObject([{ name: "uber-mich", file: { path } }]);
  expect((await upkeep.search(ctx, "tee")).entries).toMatchObject([{ name: "uber-mich", file: { path } }]);
  expect(await upkeep.entry(ctx, "uber-mich")).toMatchObject({ text: "Ich mag Tee\n" });
  await upkeep.edit(ctx, "Uber mich", "Ich mag Kaffee\n");
  expect((await upkeep.entry(ctx, path)).text).toContain("Kaffee");
});

test("an exact name comes before one that people write alike, and a note is found by its file's name, too", async () => {
  const ctx = { userId: stage.user() };
  const folder = join(stage.dataDir, "users", ctx.userId, "memory");
  mkdirSync(folder, { recursive: true });
  for (const name of ["My_Note.md", "my note.md", "Größe.md", "plain", "plain.md"])
    writeFileSync(join(folder, name), `${name}\n`);
  const names = (await upkeep.entries(ctx)).entries.map(({ name }) => name);
  expect(names.toSorted()).toEqual(["My_Note", "grosse", "my-note", "plain"]);
  for (const [name, path] of [
    ["my-note", "my%20note.md"],
    ["My_Note", "My_Note.md"],
    ["MY NOTE", null],
    ["Größe", "Gr%C3%B6%C3%9Fe.md"],
    ["plain", "plain.md"],
  ] as const) {
    const found = upkeep.entry(ctx, name);
    if (path === null) await expect(found).rejects.toMatchObject({ code: "INPUT_INVALID" });
    else expect((await found).file.path).toBe(path);
  }
  await upkeep.edit(ctx, "my-note", "Changed\n");
  expect((await upkeep.entry(ctx, "My_Note")).text).toBe("My_Note.md\n");
  expect((await upkeep.history(ctx, { name: "my-note" })).map(({ path }) => path)).toContain("my%20note.md");
  await expect(upkeep.entry(ctx, "gross")).rejects.toThrow('did you mean "grosse"?');
});

const hit = (name: string): object => ({ name, description: `about ${name}` });

test.for([
  ["take turns", [hit("x"), hit("y"), hit("z")], ["x", "cat-2", "y", "cat-1", "z"], []],
  ["are named if they fail", [{}], ["cat-2", "cat-1"], ["other"]],
] as const)("several plugins %s", async ([, entries, names, left]) => {
  using folder = temporaryFolder();
  const listed = ["x", "y", "z"].map(hit);
  const tools = {
    Find: { role: "search", answer: { entries } },
    List: { role: "entries", answer: { entries: listed } },
  } as const;
  const plugins = [writeScriptedPlugin(folder.path, "other", tools), shippedPlugin("user-memory")];
  await using several = await createRuntime({ store: memoryStore(), plugins, policy: policyFor(plugins) });
  const ctx = { userId: "alice" };
  for (const at of [1, 2]) await several.upkeep.add(ctx, `Cat ${at}`);
  const found = await several.upkeep.search(ctx, "cat");
  expect(found.entries.map(({ name }) => name)).toEqual(names);
  expect(found.left.map(({ path }) => path)).toEqual(left);
});
