/** Folders with 1,000 entries of the largest kinds. */
import { expect, test } from "vitest";

import { readUserFiles } from "../support/user-files.ts";
import { entries, fact, index, line, nameOf, upsert, withUser } from "./full-folders.ts";

test("a line of an index of the 1,000 longest entries can be replaced, and the index rebuilt", async () => {
  const description = "😀".repeat(300);
  const facts = entries(999, description, "x".repeat(1000));
  const name = "n".repeat(100);
  await withUser({ ...facts, "memory/MEMORY.md": index(999, description) }, async (runtime) => {
    expect(await runtime.call("UpdateUserMemory", upsert(name), { userId: "alice" })).toMatchObject({ ok: true });
  });
  await withUser(facts, async (runtime, dataDir) => {
    expect(await runtime.call("UpdateUserMemory", upsert(name), { userId: "alice" })).toMatchObject({ ok: true });
    const rebuilt = `${index(999, description)}- [${name}](${name}.md) \u2014 new\n`;
    expect(readUserFiles(dataDir, "alice")["memory/MEMORY.md"]).toBe(rebuilt);
  });
});

test("an index is rebuilt from the 1,000 largest entries", async () => {
  await withUser(entries(960, "d", "あ".repeat(21_000)), async (runtime, dataDir) => {
    const result = await runtime.call("UpdateUserMemory", upsert("new"), { userId: "alice" });
    expect(result).toMatchObject({ ok: true });
    expect(readUserFiles(dataDir, "alice")["memory/MEMORY.md"]).toContain(line(959, "d"));
  });
});

/** In the form that the tools write. Of other forms, a call reads only so many characters when it reads many files. */
const written = (description: string): string =>
  fact(description).replace("\n---\n", "\nupdated: '2023-01-01T00:00:00.000Z'\n---\n");

test.for([
  { what: "the longest ASCII kind", description: "d".repeat(300), shown: "d".repeat(300) },
  {
    what: "the longest kind, cut so that the answer fits",
    description: "あ".repeat(300),
    shown: `${"あ".repeat(74)}…`,
  },
])("1,000 entries of $what are listed, from the index and without it", async ({ description, shown }) => {
  const names = Array.from({ length: 1000 }, (_, at) => `${"n".repeat(95)}${nameOf(at)}`);
  const lines = names.map((name) => `- [${name}](${name}.md) \u2014 ${description}\n`).join("");
  const facts = Object.fromEntries(names.map((name) => [`memory/${name}.md`, written(description)]));
  const expected = names.map((name) => ({ family: "user-memory", name, description: shown }));
  await withUser({ ...facts, "memory/MEMORY.md": lines }, async (runtime) => {
    expect(await runtime.memoryEntries({ userId: "alice" })).toEqual(expected);
  });
  await withUser(facts, async (runtime, dataDir) => {
    expect(await runtime.memoryEntries({ userId: "alice" })).toEqual(expected);
    expect(readUserFiles(dataDir, "alice")).toEqual(facts);
  });
});
