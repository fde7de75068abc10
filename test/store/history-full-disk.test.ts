/** A full disk costs contents of the history, and never a version. */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { HistoryStage } from "./history-stage.ts";
import { remove, trash, write } from "./store-stage.ts";

test("a purge on a full disk loses no version of the WAL that could not be retired", async (context) => {
  const disk = await loopDisk("tmpfs", { bytes: 1024 * 1024 });
  if (typeof disk === "string") skipWithReason(context, disk);
  await using stage = new HistoryStage(disk);
  await stage.commit([write("a.md", randomBytes(20_000).toString("base64"))]);
  await stage.commit([trash("a.md", "trash/a.1.md")]);
  await stage.reopen();
  for (let at = 0; at < 10; at++) await stage.commit([write("b.md", randomBytes(8_000).toString("base64"))]);
  const filler = join(disk.path, "filler");
  fillUp(filler);
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  await stage.reopen();
  rmSync(filler);
  await stage.commit([write("b.md", "last")], "tool_internal");
  await stage.reopen();
  const versions = await stage.look(async (held) => (await held.versions()).map(({ seq }) => seq));
  expect(versions).toEqual(versions.map((_, at) => at + 1));
  expect(versions.length).toBeGreaterThanOrEqual(13);
  expect(await stage.look(({ isBroken }) => isBroken)).toBe(false);
  expect((await stage.contents("b.md")).at(-1)).toBe("last");
  expect(await stage.findings()).toEqual([]);
  expect(stage.notes.filter((note) => note.includes("missing"))).toEqual([]);
});

const text = (last: string): string => `${"beginning ".repeat(9_000)}${last}`;

test("contents that were not kept are never what later ones are told from", async (context) => {
  const disk = await loopDisk("tmpfs", { bytes: 1024 * 1024 });
  if (typeof disk === "string") skipWithReason(context, disk);
  await using stage = new HistoryStage(disk);
  await stage.commit([write("a.md", text("1"))]);
  const filler = join(disk.path, "filler");
  fillUp(filler);
  await stage.reopen();
  rmSync(filler);
  for (const last of ["2", "3"]) await stage.commit([write("a.md", text(last))]);
  await stage.reopen();
  expect((await stage.contents("a.md")).slice(1)).toEqual([text("2"), text("3")]);
  expect(await stage.findings()).toEqual([]);
});

function fillUp(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096, 1), { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
