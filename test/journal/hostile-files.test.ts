/**
 * Files that are built to cost a call much time or memory. Each gets an answer or the tool's own code, for a small part
 * of a call's fuel. Work that grows with the square of a text's length would use all of it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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

function lay(userId: string, text: string): void {
  const place = join(folder.path, "users", userId, "journal");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "a.md"), text);
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
