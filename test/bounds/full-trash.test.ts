/** A scope whose trash is full: tools are told what helps, nothing else is in their way, and a person can empty it. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { ask, memory, openPuppetStage } from "../escape/puppet-stage.ts";
import { userFolder } from "../support/user-files.ts";

const { trashFilesMax, listEntriesMax } = storeLimits;
const trashA = ask("store_trash", memory("a.md"));
const refusal = expect.stringContaining("QUOTA_EXCEEDED");
const done = expect.stringContaining('{"ok":true');

/** Makes so many files of one byte, as no tool names them. */
function fill(folder: string, files: number): void {
  mkdirSync(folder, { recursive: true });
  for (let at = 0; at < files; at++) writeFileSync(join(folder, `x${at}.md`), "x");
}

test("a tool trashes the last file that fits, then it is told to purge", { timeout: 60_000 }, async () => {
  await using stage = await openPuppetStage();
  const trash = join(userFolder(stage.dataDir, "alice"), "memory", "trash");
  fill(trash, trashFilesMax - 1 - readdirSync(trash).length);
  const again = ask("store_write", memory("a.md", "again"));
  expect(await stage.play([trashA, again])).toMatchObject({ data: [done, done] });
  const message = `Cannot trash "a.md": the user's "memory" would have ${trashFilesMax + 1} files in its trash, at most ${trashFilesMax} allowed; "memcell trash purge" removes them`;
  expect(await stage.play([trashA])).toMatchObject({
    data: [JSON.stringify({ ok: false, error: { code: "QUOTA_EXCEEDED", message } })],
  });
  expect(await stage.play([ask("store_write", memory("b.md", "beside"))])).toMatchObject({ data: [done] });
  expect(readdirSync(trash)).toHaveLength(trashFilesMax);
  rmSync(join(trash, "x0.md"));
  expect(await stage.play([trashA])).toMatchObject({ data: [done] });
  expect(await stage.play([again, trashA])).toMatchObject({ data: [done, refusal] });
});

test("a scope with as many files as a listing has gets no new one", { timeout: 60_000 }, async () => {
  await using stage = await openPuppetStage();
  const scope = join(userFolder(stage.dataDir, "alice"), "memory");
  fill(scope, listEntriesMax - 1);
  const makeNew = ask("store_write", memory("new.md", ""));
  const told = expect.stringContaining(`would have ${listEntriesMax + 1} files outside its trash`);
  expect(await stage.play([makeNew])).toMatchObject({ data: [told] });
  expect(await stage.play([ask("store_write", memory("a.md", "longer than before"))])).toMatchObject({ data: [done] });
  expect(await stage.play([trashA, makeNew])).toMatchObject({ data: [done, done] });
});
