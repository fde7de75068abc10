/** A mounted folder is read as it is and written in place; everybody else stays in the data folder. */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { readUserFiles, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { alice, list, mountedStage, play, read, write } from "./mounted-stage.ts";

const modeOf = (file: string): number => statSync(file).mode & 0o7777;

test("what lies in the folder is the scope, and what is written lies there under its very path", async () => {
  using stage = mountedStage();
  stage.put("2026/11/22.md", "### a\n");
  await using runtime = await stage.open();
  const seen = await play(runtime, [read("2026/11/22.md"), list(), write("MEMORY.md", "new")]);
  expect(seen).toMatchObject({
    ok: true,
    data: [
      { ok: true, data: { content: "### a\n" } },
      { ok: true, data: { files: [{ path: "2026/11/22.md", bytes: 6 }] } },
      { ok: true },
    ],
  });
  expect(stage.files()).toEqual({ "2026/11/22.md": "### a\n", "MEMORY.md": "new" });
  expect(existsSync(stage.dataDir)).toBe(false);
});
