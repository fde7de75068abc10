/** Moving in through a host: the plugin that makes the entries can do nothing else, and what it makes is imported. */
import { readFileSync } from "node:fs";

import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { asMemoryFiles } from "../support/memory-files.ts";
import { moveIn } from "../support/move-in.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { convertFor } from "./convert-for.ts";

const stage = await openStage({ plugins: ["user-memory", "move-in"], durability: "relaxed" });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

test("the plugin can ask a host for nothing, and models do not get it", async () => {
  const module = await WebAssembly.compile(readFileSync(shippedPlugin("move-in")));
  expect(WebAssembly.Module.imports(module).filter(({ module: from }) => from !== "extism:host/env")).toEqual([]);
  const ctx = { userId: stage.user() };
  expect(runtime.tools().map(({ name }) => name)).not.toContain("ConvertFiles");
  expect(await runtime.call("ConvertFiles", { paths: [] }, ctx)).toMatchObject({
    error: { code: "TOOL_UNKNOWN" },
  });
  expect(runtime.families().map(({ name }) => name)).toEqual(["user-memory"]);
});

test("what it makes is imported, listed and read, and a second time nothing changes", async () => {
  const userId = stage.user();
  const files = {
    "Projekt Über.md": "---\ntags: [a, b]\n---\n# Projekt\n\n- [tech] Go #go\n- [[Zug]]\n",
    "Reise/Zug.md": "Um 8 Uhr.\r\nGleis 5.",
    "Reise/Karte.png": "\0",
  };
  const told = await moveIn(files, convertFor(runtime, userId));
  expect(stage.files(userId)).toEqual({});
  const imported = (): Promise<object> => {
    const entries = Object.fromEntries(told.entries.map(({ path, content }) => [path, content]));
    return runtime.upkeep.import({ userId }, asMemoryFiles(entries, "memory"));
  };
  expect(await imported()).toMatchObject({ leftOut: [], refused: [] });
  expect(await runtime.memoryEntries({ userId })).toMatchObject([
    { name: "Zug", description: "Um 8 Uhr." },
    { name: "projekt-uber", description: "Projekt" },
  ]);
  expect(await runtime.readEntry({ name: "Zug" }, { userId })).toMatchObject({ body: files["Reise/Zug.md"] });
  expect(await runtime.upkeep.inspect({ userId })).toEqual([]);
  const before = stage.files(userId);
  await imported();
  expect(stage.files(userId)).toEqual(before);
});

test("texts of escapes alone stay within the bounds of each call", async () => {
  const convert = convertFor(runtime, stage.user());
  const escapes = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [`${at}.md`, `${at}${'"\\\n'.repeat(20_000)}`]),
  );
  expect((await moveIn(escapes, convert, { bytesMax: 128 * 1024 })).entries).toHaveLength(8);
  const controls = await moveIn({ "a.md": "\x01".repeat(60_000) }, convert, { bytesMax: 60_000 });
  expect(controls.left).toEqual([{ path: "a.md", reason: "it has too many control characters to be a text" }]);
});
