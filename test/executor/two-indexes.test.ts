/** The prompt of a user with entries in two plugins: one budget, fair shares, each plugin in its own frame. */
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const entryLine = (at: number, words: string): string => `- [e${at}](e${at}.md) \u2014 ${words}\n`;
/** Entries, and their lines in the index. */
function indexedEntries(count: number, words: string): Record<string, string> {
  const all = Array.from({ length: count }, (_, at) => at);
  const files = Object.fromEntries(all.map((at) => [`memory/e${at}.md`, `${words}\n`]));
  return { ...files, "memory/MEMORY.md": all.map((at) => entryLine(at, words)).join("") };
}
const block = (at: number, text: string): string =>
  `### k${at}

${text}

<!-- agentool-memory: at=2026-01-01T00:00:00+00:00 tags= -->

`;
const blocks = (count: number, text: string) => Array.from({ length: count }, (_, at) => block(at, text)).join("");

async function indexOf(files: Record<string, string>, work: (text: string, runtime: Runtime) => Promise<void>) {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: files });
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: shippedNames(), threadsMax: 1 });
  await work(await runtime.memoryIndex(alice), runtime);
}

/** The names of the plugins that have an index. */
const indexed = (runtime: Runtime): string[] =>
  runtime
    .families()
    .filter(({ hasIndex }) => hasIndex)
    .map(({ name }) => name);

const countOf = (text: string, part: RegExp): number => text.match(part)?.length ?? 0;

test("what fits is shown whole, each plugin in its own frame, in their order", async () => {
  const files = { ...indexedEntries(3, "x"), "journal/MEMORY.md": blocks(3, "y") };
  await indexOf(files, async (text, runtime) => {
    const parts: string[] = [];
    for (const name of indexed(runtime)) parts.push(await runtime.memoryIndex(alice, { family: name }));
    expect(parts.filter((part) => part !== "")).toHaveLength(2);
    expect(text).toBe(parts.join(""));
    const entries = await runtime.memoryEntries(alice);
    expect(new Set(entries.map(({ family }) => family))).toEqual(new Set(["journal", "user-memory"]));
  });
});

test("what does not fit is cut to 200 lines and 25,000 bytes, and a small index stays whole", async () => {
  const small = { "journal/MEMORY.md": blocks(2, "y") };
  await indexOf({ ...small, ...indexedEntries(1_000, "x") }, async (text, runtime) => {
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(200);
    expect(text).toContain(await runtime.memoryIndex(alice, { family: "journal" }));
    expect(countOf(text, /^- \[e/gm)).toBeGreaterThan(150);
  });
  const large = {
    "journal/MEMORY.md": blocks(900, "y".repeat(300)),
    ...indexedEntries(1_000, "x".repeat(290)),
  };
  await indexOf(large, async (text, runtime) => {
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(25_000);
    const framed = indexed(runtime).filter((name) => text.includes(`<${name.replace("-", "_")}`));
    expect(framed).toEqual(["journal", "user-memory"]);
    expect(countOf(text, /^- \[e/gm)).toBeGreaterThan(20);
  });
});

test("a full plugin next to an empty one has all the room that it has alone", async () => {
  await indexOf(indexedEntries(1_000, "x"), async (text, runtime) => {
    expect(text).toBe(await runtime.memoryIndex(alice, { family: "user-memory" }));
    expect(countOf(text, /^- \[e/gm)).toBe(200);
  });
});

test("the error names a plugin that is not loaded or has no index", async () => {
  await indexOf({}, async (text, runtime) => {
    expect(text).toBe("");
    await expect(runtime.memoryIndex(alice, { family: "other" })).rejects.toMatchObject({
      code: "TOOL_UNKNOWN",
      message: 'Cannot read the index: no loaded plugin "other" has a tool with the role "index"',
    });
  });
});
