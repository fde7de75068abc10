/** A journal's files after updates. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({
    dataDir: folder.path,
    plugins: ["journal"],
    threadsMax: 1,
    clock: () => Date.UTC(2026, 0, 2, 3, 4, 5),
  });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const pathOf = (userId: string, path: string): string => join(folder.path, "users", userId, "journal", path);

function lay(userId: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(pathOf(userId, path)), { recursive: true });
  writeFileSync(pathOf(userId, path), text);
}

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
  lay("people", "notes.MD", `${before}### a\n\nold\n\n<!-- agentool-memory: at=2020 tags=t -->\n${after}`);
  const result = await runtime.call("memory_update", { key: "a", content: "new" }, ctx);
  expect(result).toMatchObject({ ok: true, data: { success: true, data: { path: "notes.MD", kind: "daily" } } });
  const meta = "<!-- agentool-memory: at=2026-01-02T03:04:05+00:00 tags=t -->\n<!-- memcell: created=2020 -->";
  expect(readFileSync(pathOf("people", "notes.MD"), "utf8")).toBe(
    `${before}${after.slice(1)}\n### a\n\nnew\n\n${meta}\n\n`,
  );
});

test("of a file that is not text what can be read counts, and a write to it moves it to the trash", async () => {
  const ctx = { userId: "broken" };
  lay("broken", "2026/01/02.md", Uint8Array.of(0xe9, 0x0a));
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
  lay("large", "a.md", `### big\n\n${"x".repeat(600_000)}\n\n### small\n\nx\n`);
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
