/** Folders and files that the host may not open: a coded error without the system's words, and other calls succeed. */
import { chmodSync } from "node:fs";
import { join } from "node:path";

import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { homeFolder, makeFolders, openFolders, useFolder } from "./folder-stage.ts";
import type { Outcomes } from "./folder-stage.ts";

const failed = "STORAGE_FAILED";
/** A forbidden file is like one that is no plain file. */
const unsafe = "STORAGE_UNSAFE";

const rows: Readonly<Record<string, Outcomes>> = {
  "": [failed, failed, failed, failed],
  memory: [failed, failed, failed, failed],
  // A replacement that is not larger does not read the trash.
  "memory/trash": ["ok", "ok", "ok", failed],
  "memory/x.md": [unsafe, "ok", unsafe, unsafe],
  "memory/MEMORY.md": ["ok", unsafe, unsafe, unsafe],
  ".memcell": [failed, failed, failed, failed],
  ".memcell/owner": [unsafe, unsafe, unsafe, unsafe],
  ".memcell/lock": [unsafe, unsafe, unsafe, unsafe],
  ".memcell/turnstile": [unsafe, unsafe, unsafe, unsafe],
  ".memcell/journal": [unsafe, unsafe, unsafe, unsafe],
};

/** Root may open everything, so the tests run as the user nobody. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
let runtime: Runtime;
beforeAll(async () => {
  await makeFolders(folder.path, ["carol", ...Object.keys(rows).map((_, at) => `row-${at}`)]);
  if (isRoot) {
    await runCommand("chown", ["-R", `${nobody}:${nobody}`, folder.path]);
    process.seteuid?.(nobody);
  }
  runtime = await openFolders(dataDir);
});
afterAll(async () => {
  if (isRoot) process.seteuid?.(0);
  await runtime.close();
  folder[Symbol.dispose]();
});

test.for(Object.entries(rows).map(([place, outcomes], at) => [place, outcomes, `row-${at}`] as const))(
  'a place "%s" that may not be opened is a coded error',
  async ([place, outcomes, userId], context) => {
    if (process.platform === "win32") skipWithReason(context, "Windows has no such modes");
    const use = (): Promise<Outcomes> => useFolder(runtime, "user", userId, folder.path);
    const path = join(homeFolder(dataDir, "user", userId), place);
    chmodSync(path, 0);
    try {
      expect(await use()).toEqual(outcomes);
      expect(await runtime.call("ReadUserMemory", { name: "x" }, { userId: "carol" })).toMatchObject({ ok: true });
    } finally {
      chmodSync(path, 0o700);
    }
    expect((await use()).slice(0, 3)).toEqual(["ok", "ok", "ok"]);
  },
);
