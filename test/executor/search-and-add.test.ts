/** A program searches a user's memory, and adds a person's text to it, without knowing a plugin. */
import { createRuntime, memoryStore } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";

const stage = await openStage({ threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

test("what is added has a name and a description made of the text, and is found by its words", async () => {
  const ctx = { userId: stage.user() };
  const text = "# Mein Frühstück\n\nNur Haferbrei, ohne Nüsse.\n";
  const added = await runtime.addEntry(ctx, { text });
  expect(added).toEqual({ family: "user-memory", name: "mein-fruhstuck", path: "mein-fruhstuck.md" });
  expect(await runtime.readEntry(added, ctx)).toMatchObject({
    description: "Mein Frühstück",
    type: "user",
    body: text,
  });
  expect(await runtime.searchEntries(ctx, { query: "Haferbrei" })).toEqual([
    {
      family: "user-memory",
      name: added.name,
      description: "Mein Frühstück",
      snippet: "# Mein Frühstück Nur Haferbrei, ohne Nüsse.",
    },
  ]);
  expect(await runtime.searchEntries(ctx, { query: "Zebra" })).toEqual([]);
  expect(await runtime.memoryIndex(ctx, { family: "user-memory" })).toContain("mein-fruhstuck");
});

test("a new entry replaces none: a name of its own is refused if it is taken, and one that is made is another", async () => {
  const ctx = { userId: stage.user() };
  const add = async (text: string, name?: string): Promise<string> =>
    (await runtime.addEntry(ctx, { text, name })).name;
  expect(await add("Likes tea.")).toBe("likes-tea");
  expect(await add("Likes tea!")).toBe("likes-tea-2");
  expect(await add("Likes coffee.", "Drinks")).toBe("Drinks");
  expect([await add("日本語"), await add("???"), await add("Memory")]).toEqual(["note", "note-2", "Memory-notes"]);
  await expect(add("Likes water.", "drinks")).rejects.toMatchObject({ code: "NAME_CONFLICT" });
  await expect(add("Likes water.", "MEMORY")).rejects.toMatchObject({ code: "NAME_RESERVED" });
  await expect(add("x".repeat(65_537))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await runtime.memoryEntries(ctx, { family: "user-memory" })).toHaveLength(6);
});

test("a search returns at most so many, and a text that is not the person's waits as any other", async () => {
  const ctx = { userId: stage.user() };
  for (const at of [1, 2, 3]) await runtime.addEntry(ctx, { text: `Cat number ${at}` });
  expect(await runtime.searchEntries(ctx, { query: "cat" })).toHaveLength(3);
  expect(await runtime.searchEntries(ctx, { query: "cat", limit: 2, family: "user-memory" })).toHaveLength(2);
  const policy = trustingPolicy({ active: "direct_user" });
  await using wary = await createRuntime({ store: memoryStore(), threadsMax: 1, policy });
  const ofPage = { ...ctx, origin: { class: "tool_external" } } as const;
  await expect(wary.addEntry(ofPage, { text: "Buy gold" })).rejects.toMatchObject({ code: "WRITE_PENDING" });
  await expect(wary.asReadOnly().addEntry(ctx, { text: "a" })).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  expect(await wary.asReadOnly().searchEntries(ctx, { query: "gold" })).toEqual([]);
});

const hit = (name: string): object => ({ name, description: `about ${name}` });

test.for([
  ["take turns", [hit("x"), hit("y"), hit("z")], ["x", "cat-2", "y", "cat-1", "z"], []],
  ["are left out and reported if they fail", [{}], ["cat-2", "cat-1"], ["other is left out: OUTPUT_INVALID"]],
] as const)("several plugins %s", async ([, entries, names, reported]) => {
  using folder = temporaryFolder();
  const other = writeScriptedPlugin(folder.path, "other", { Find: { role: "search", answer: { entries } } });
  const plugins = [other, shippedPlugin("user-memory")];
  const log: string[] = [];
  const onLog = ({ text }: { readonly text: string }): void => void log.push(text.split(": ", 2).join(": "));
  await using several = await createRuntime({ store: memoryStore(), plugins, policy: policyFor(plugins), onLog });
  const ctx = { userId: "alice" };
  for (const at of [1, 2]) await several.addEntry(ctx, { text: `Cat ${at}` });
  const found = await several.searchEntries(ctx, { query: "cat" });
  expect(found.map(({ name }) => name)).toEqual(names);
  expect(await several.searchEntries(ctx, { query: "cat", limit: 1 })).toEqual(found.slice(0, 1));
  expect([...new Set(log.filter((text) => text.includes("left out")))]).toEqual(reported);
  const wrong = { query: 5 as never, family: "user-memory" };
  await expect(several.searchEntries(ctx, wrong)).rejects.toMatchObject({ code: "INPUT_INVALID" });
});
