/**
 * Files that are built to cost a call much time or memory get an answer or the tool's own code, for a small part of a
 * call's fuel. Work that grows with the square of a text's length would use all of it. What else is in files stays.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { isLong, oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({
    dataDir: folder.path,
    plugins: ["journal"],
    threadsMax: 1,
    fuelPolls: 300,
    deadlineMs: 10_000,
    clock: () => Date.UTC(2026, 0, 2, 3, 4, 5),
  });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const fileBytes = 2 * 1024 * 1024;
const mark = "<!-- agentool-memory:";
const meta = `${mark} at=2026-01-01 -->\n`;

/** A heading, then as many repetitions of a text as fit into a file. */
const filled = (part: string, last = ""): string => `### k\n${part.repeat((fileBytes - 100) / part.length)}${last}`;

const files: Record<string, string> = {
  spaces: filled(" "),
  "line ends": filled("\n"),
  CRs: filled("\r"),
  "CRs before a character": filled("\r", "x"),
  "CRs between characters": filled("\rx"),
  "one line": filled("x"),
  "control characters": filled("\u0001"),
  "marks of meta": filled(`${mark}\n`),
  "marks in a line": filled(`x ${mark}`),
  "a mark behind spaces": filled(" ", mark),
  backslashes: `${filled("\\", "### \n")}${meta}<!-- memcell: escaped -->\n`,
  "escaped lines": `${filled("\\### \n")}${meta}<!-- memcell: escaped -->\n`,
  "a million tags": `### k\n\n${mark} at=2026 tags=${"a|".repeat(1_000_000)} -->\n`,
  "a fraction of zeros": `### k\n\n${mark} at=2026-01-01T00:00:00.${"0".repeat(400_000)}1Z -->\n`,
  "CRs behind memcell's mark": `### k\n${meta}<!-- memcell: escaped -->${"\r".repeat(1_000_000)}x\n`,
};

const pathOf = (userId: string, path: string): string => join(folder.path, "users", userId, "journal", path);

function lay(userId: string, text: string | Uint8Array, path = "a.md"): void {
  mkdirSync(dirname(pathOf(userId, path)), { recursive: true });
  writeFileSync(pathOf(userId, path), text);
}

test.for(oneIn(3, Object.entries(files)))("a file of %s costs a call little fuel", async ([, text]) => {
  const ctx = { userId: "hostile" };
  lay("hostile", text);
  expect(await runtime.call("memory_search", { query: "", limit: 100 }, ctx)).toMatchObject({ ok: true });
  expect(await runtime.call("memory_search", { query: "z", tags: ["a"] }, ctx)).toMatchObject({ ok: true });
  const read = await runtime.call("memory_read", { key: "k" }, ctx);
  if (!read.ok) expect(read.error).toMatchObject({ code: "MEMORY_STORAGE_ERROR" });
  expect(await runtime.call("memory_update", { key: "k", content: "new" }, ctx)).toMatchObject({ ok: true });
});

test("a block of 500 KB with 70,000 escaped lines is read", async () => {
  const text = `### k\n\n${"\\### \r\n".repeat(70_000)}\n${meta}<!-- memcell: escaped -->\n`;
  lay("escaped", text);
  expect(await runtime.call("memory_read", { key: "k" }, { userId: "escaped" })).toMatchObject({
    ok: true,
    data: { data: { content: "### \n".repeat(70_000).trimEnd() } },
  });
});

test("350,000 headings end a read, and a search, with the tools' own code", async () => {
  await using full = await createRuntime({
    dataDir: folder.path,
    plugins: ["journal"],
    threadsMax: 1,
    fuelPolls: 4_000,
    deadlineMs: 10_000,
  });
  const ctx = { userId: "headings" };
  lay("headings", "### a\n".repeat(fileBytes / 6));
  const tooMany = {
    ok: false,
    error: { code: "MEMORY_STORAGE_ERROR", message: expect.stringContaining("over 100000 blocks to read") },
  };
  // Blocks are read from the end and have equal times, so each one ranks above all before it. A busy machine takes
  // longer for that than a call may take.
  if (isLong) expect(await full.call("memory_search", { query: "", limit: 100 }, ctx)).toMatchObject(tooMany);
  expect(await full.call("memory_read", { key: "a" }, ctx)).toMatchObject(tooMany);
  expect(await full.call("memory_write", { key: "b", content: "", target: "summary" }, ctx)).toMatchObject({
    ok: true,
  });
});

test("a file does not grow with fifty updates", async () => {
  const ctx = { userId: "growing" };
  for (const key of ["a", "b", "c"]) await runtime.call("memory_write", { key, content: "x", target: "summary" }, ctx);
  for (const key of ["a", "b", "c"]) await runtime.call("memory_update", { key, content: "y" }, ctx);
  const before = readFileSync(pathOf("growing", "MEMORY.md"), "utf8");
  for (let turn = 0; turn < 50; turn++) {
    const key = ["a", "b", "c"][turn % 3];
    expect(await runtime.call("memory_update", { key, content: "y" }, ctx)).toMatchObject({ ok: true });
  }
  const after = readFileSync(pathOf("growing", "MEMORY.md"), "utf8");
  expect(after.length).toBe(before.length);
  expect(after).not.toMatch(/^\n|-->\n\n\n/);
});

test("a person's text around a block keeps its bytes", async () => {
  const ctx = { userId: "people" };
  const [before, after] = ["\ufeff# Mine\r\n\r\nprose\n\n", "\n\n\nmore \u0085\n#### x\n### other\n\nkept"];
  lay("people", `${before}### a\n\nold\n\n<!-- agentool-memory: at=2020 tags=t -->\n${after}`, "notes.MD");
  const result = await runtime.call("memory_update", { key: "a", content: "new" }, ctx);
  expect(result).toMatchObject({ ok: true, data: { success: true, data: { path: "notes.MD", kind: "daily" } } });
  const times = "<!-- agentool-memory: at=2026-01-02T03:04:05+00:00 tags=t -->\n<!-- memcell: created=2020 -->";
  expect(readFileSync(pathOf("people", "notes.MD"), "utf8")).toBe(
    `${before}${after.slice(1)}\n### a\n\nnew\n\n${times}\n\n`,
  );
});

test("of a file that is not text what can be read counts, and a write to it moves it to the trash", async () => {
  const ctx = { userId: "broken" };
  lay("broken", Uint8Array.of(0xe9, 0x0a), "2026/01/02.md");
  const write = (target: string): unknown => runtime.call("memory_write", { key: target, content: "", target }, ctx);
  const note = '1 file could not be read in part, because not all of it is UTF-8 text: "2026/01/02.md" line 1';
  expect(await write("summary")).toMatchObject({ ok: true, message: expect.stringContaining(note) });
  expect(await runtime.call("memory_read", { key: "x" }, ctx)).toMatchObject({
    error: { code: "MEMORY_KEY_NOT_FOUND", of: "ENTRY_NOT_FOUND", message: expect.stringContaining(note) },
  });
  const found = await runtime.call("memory_search", { query: "SUMM" }, ctx);
  expect(found).toMatchObject({ ok: true, message: expect.stringContaining(note) });
  const trashed = "the previous file was not UTF-8 text and is now trash/2026/01/02.";
  expect(await write("daily")).toMatchObject({ ok: true, message: expect.stringContaining(trashed) });
});

test("a block that fits no answer is reported with its size, and does not hide others", async () => {
  const ctx = { userId: "large" };
  lay("large", `### big\n\n${"x".repeat(600_000)}\n\n### small\n\nx\n`);
  expect(await runtime.call("memory_read", { key: "big" }, ctx)).toMatchObject({
    error: {
      code: "MEMORY_STORAGE_ERROR",
      message: expect.stringMatching(/is 600\d\d\d characters, at most 516096 bytes of JSON/),
    },
  });
  expect(await runtime.call("memory_search", { query: "x" }, ctx)).toMatchObject({
    ok: true,
    message: expect.stringContaining("1 more left out for lack of room"),
    data: { data: { results: [{ key: "small" }] } },
  });
});
