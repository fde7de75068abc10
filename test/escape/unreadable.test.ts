/** Folders and files that the host may not open: a coded error without the system's words, and other calls succeed. */
import { chmodSync, chownSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { openFolderStage } from "./folder-stage.ts";
import type { FolderStage, Outcomes } from "./folder-stage.ts";

const all = (code: string): Outcomes => ({ read: code, index: code, upsert: code, remove: code });
const failed = "STORAGE_FAILED";
/** A forbidden file is like one that is no plain file. */
const unsafe = all("STORAGE_UNSAFE");

const rows: { place: string; outcomes: Outcomes }[] = [
  { place: "", outcomes: all(failed) },
  { place: "memory", outcomes: all(failed) },
  // A replacement that is not larger does not read the trash.
  { place: "memory/trash", outcomes: { read: "ok", index: "ok", upsert: "ok", remove: failed } },
  { place: "memory/x.md", outcomes: { ...unsafe, index: "ok" } },
  { place: "memory/MEMORY.md", outcomes: { ...unsafe, read: "ok" } },
  { place: ".memcell", outcomes: all(failed) },
  { place: ".memcell/owner", outcomes: unsafe },
  { place: ".memcell/lock", outcomes: unsafe },
  { place: ".memcell/turnstile", outcomes: unsafe },
  { place: ".memcell/journal", outcomes: unsafe },
];

/** Root may open everything, so the tests run as the user nobody. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const idOf = (at: number): string => `row-${at}`;
let stage: FolderStage;
beforeAll(async () => {
  stage = await openFolderStage(rows.map((_, at) => idOf(at)));
  if (!isRoot) return;
  await runCommand("chown", ["-R", `${nobody}:${nobody}`, stage.dataDir, stage.outside]);
  chownSync(join(stage.dataDir, ".."), nobody, nobody);
  process.seteuid?.(nobody);
});
afterAll(async () => {
  if (isRoot) process.seteuid?.(0);
  await stage.close();
});

test.for(rows.map((row, at) => Object.assign({ at }, row)))(
  "a place $place that may not be opened is a coded error",
  async ({ place, outcomes, at }, context) => {
    if (process.platform === "win32") skipWithReason(context, "Windows has no such modes");
    const path = join(stage.folderOf(idOf(at)), place);
    chmodSync(path, 0);
    try {
      expect(await stage.use(idOf(at))).toEqual(outcomes);
    } finally {
      chmodSync(path, 0o700);
    }
    expect(await stage.use(idOf(at))).toMatchObject({ read: "ok", index: "ok", upsert: "ok" });
  },
);
