/** The prompt of a user with entries in two plugins: one budget, fair shares, each plugin in its own frame. */
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { writeUserFiles } from "../support/user-files.ts";

const stage = await openStage({ threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Entries, and their lines in the index. */
function indexedEntries(count: number, words: string): Record<string, string> {
  const files = Object.fromEntries(numbers(count).map((at) => [`memory/e${at}.md`, `${words}\n`]));
  const lines = numbers(count).map((at) => `- [e${at}](e${at}.md) \u2014 ${words}\n`);
  return { ...files, "memory/MEMORY.md": lines.join("") };
}

const meta = "<!-- agentool-memory: at=2026-01-01T00:00:00+00:00 tags= -->";
const blocks = (count: number, text: string): Record<string, string> => ({
  "journal/MEMORY.md": numbers(count)
    .map((at) => `### k${at}\n\n${text}\n\n${meta}\n\n`)
    .join(""),
});

async function indexOf(files: Record<string, string>) {
  const userId = stage.user();
  writeUserFiles(stage.dataDir, { [userId]: files });
  const text = await runtime.memoryIndex({ userId });
  const familyIndex = (family: string): Promise<string> => runtime.memoryIndex({ userId }, { family });
  return { text, entries: text.match(/^- \[e/gm)?.length ?? 0, familyIndex };
}

test("what fits is shown whole, each plugin in its own frame, in their order", async () => {
  const { text, familyIndex } = await indexOf({ ...indexedEntries(3, "x"), ...blocks(3, "y") });
  const names = runtime.families().filter(({ hasIndex }) => hasIndex);
  const parts: string[] = [];
  for (const { name } of names) parts.push(await familyIndex(name));
  expect(parts.filter((part) => part !== "")).toHaveLength(2);
  expect(text).toBe(parts.join(""));
});

test("what does not fit is cut, a small index stays whole, and two large ones have equal shares", async () => {
  const small = await indexOf({ ...blocks(2, "y"), ...indexedEntries(1_000, "x") });
  expect(small.text).toContain(await small.familyIndex("journal"));
  expect(small.entries).toBeGreaterThan(150);
  const large = await indexOf({ ...blocks(900, "y".repeat(300)), ...indexedEntries(1_000, "x".repeat(290)) });
  for (const { text } of [small, large]) {
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(25_000);
  }
  const [journal = "", memory = ""] = large.text.split(/^<\/journal_summary>$/m);
  for (const share of [journal, memory]) {
    expect(Buffer.byteLength(share)).toBeGreaterThan(10_000);
    expect(Buffer.byteLength(share)).toBeLessThan(13_500);
  }
});

test("a full plugin next to an empty one has all the room that it has alone", async () => {
  const { text, entries, familyIndex } = await indexOf(indexedEntries(1_000, "x"));
  expect(text).toBe(await familyIndex("user-memory"));
  expect(entries).toBe(200);
});

test("the error names a plugin that is not loaded or has no index", async () => {
  const { text, familyIndex } = await indexOf({});
  expect(text).toBe("");
  await expect(familyIndex("other")).rejects.toMatchObject({
    code: "TOOL_UNKNOWN",
    message: 'Cannot read the index: no loaded plugin "other" has a tool with the role "index"',
  });
});
