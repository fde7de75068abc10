/** One history, whichever process adds to it, and however one ends. */
import { appendFileSync, cpSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { HistoryStage } from "./history-stage.ts";
import { remove, trash, write } from "./store-stage.ts";

test("two processes that take turns add to one history", async () => {
  await using stage = new HistoryStage();
  const other = stage.beside();
  for (let at = 0; at < 20; at++)
    await stage.commit([write("a.md", `text ${at}`)], "direct_user", at % 2 ? other : undefined);
  await other.close();
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(Array.from({ length: 20 }, (_, at) => `text ${at}`));
  expect(await stage.findings()).toEqual([]);
});

test("what a killed process has left in the WAL is in the history once", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "one")]);
  await stage.commit([write("a.md", "two")]);
  const killed = join(stage.user, "..", "killed");
  cpSync(stage.user, killed, { recursive: true });
  await stage.reopen();
  // As after a crash between the move to the history and the end of the WAL's records.
  const moved = join(stage.user, "..", "moved");
  cpSync(stage.history, moved, { recursive: true });
  await stage.store.close();
  rmSync(stage.user, { recursive: true });
  cpSync(killed, stage.user, { recursive: true });
  rmSync(stage.history, { recursive: true });
  cpSync(moved, stage.history, { recursive: true });
  await stage.reopen();
  await stage.commit([write("a.md", "three")]);
  expect(await stage.contents("a.md")).toEqual(["one", "two", "three"]);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(["one", "two", "three"]);
  expect(await stage.findings()).toEqual([]);
});

test("what a crash has left of a line does not count, and is written again", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "one")]);
  await stage.reopen();
  for (const each of ["versions-", "contents-"]) appendFileSync(stage.file(each), '{"seq":2,"at":"20');
  await stage.commit([write("a.md", "two")]);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(["one", "two"]);
  expect(await stage.findings()).toEqual([]);
});

test("after another process has emptied the trash, no version has a number that is taken", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "one"), write("b.md", "two")]);
  await stage.commit([trash("a.md", "trash/a.1.md")]);
  const other = stage.beside();
  await stage.commit([write("c.md", "three")], "direct_user", other);
  await other.close();
  await stage.reopen();
  await stage.look(({ head }) => head);
  const purging = stage.beside();
  await stage.commit([remove("trash/a.1.md")], "owner_edit", purging);
  await purging.close();
  await stage.commit([write("b.md", "four")], "tool_internal");
  await stage.reopen();
  const versions = await stage.look((held) => held.versions());
  expect(versions.map(({ seq, kind }) => [seq, kind])).toEqual([
    [1, undefined],
    [2, undefined],
    [3, undefined],
    [4, "purged"],
    [5, undefined],
  ]);
  expect(await stage.findings()).toEqual([]);
});

test("a whole folder that is put back to an older state, with its history, is noticed", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "one")]);
  await stage.reopen();
  const snapshot = join(stage.user, "..", "snapshot");
  cpSync(stage.user, snapshot, { recursive: true });
  await stage.commit([write("a.md", "two")]);
  await stage.look(({ head }) => head);
  rmSync(stage.user, { recursive: true });
  cpSync(snapshot, stage.user, { recursive: true });
  await stage.commit([write("a.md", "three")]);
  expect(stage.notes).toContain("the history was put back to version 1, after version 2");
});
