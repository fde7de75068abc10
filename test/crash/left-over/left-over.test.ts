/**
 * A process ends without closing its runtime. Then a person changes files, and the next process starts: on the same start
 * of the machine or on another, and at first with a call or with the retirement of what is left over. What the person has
 * done must stay.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { isSettled } from "../../stage/journal.ts";
import type { UserId } from "../../stage/store.ts";
import { thisBoot } from "../../stage/wal.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { compiledScript, DiskRoot, openFiles } from "../store-under-test.ts";
import type { StoreUnderTest } from "../store-under-test.ts";
import type { End } from "./ending-process.ts";

/** Returns the expected text of `pref.md`; `null` if it is gone. `first` is the first version of `pref.md`. */
type ByHand = (memory: string, first: string) => string | null;

const backup = "A backup of last month.\n";

const byHand: Readonly<Record<string, ByHand>> = {
  edit: (memory) => {
    writeFileSync(join(memory, "pref.md"), "Edited by hand.\n");
    return "Edited by hand.\n";
  },
  delete: (memory) => {
    for (const name of ["pref.md", "secret.md"]) rmSync(join(memory, name));
    writeFileSync(join(memory, "MEMORY.md"), "");
    return null;
  },
  "restore of an older version": (memory, first) => {
    writeFileSync(join(memory, "restored"), first);
    renameSync(join(memory, "restored"), join(memory, "pref.md"));
    return first;
  },
  rename: (memory) => {
    renameSync(join(memory, "pref.md"), join(memory, "mine.md"));
    return null;
  },
  "cp -a of a backup": (memory) => {
    const original = join(memory, "..", "backup.md");
    writeFileSync(original, backup);
    utimesSync(original, 1_700_000_000, 1_700_000_000);
    execFileSync("cp", ["-a", original, join(memory, "pref.md")]);
    return backup;
  },
  // The files in it keep their times, which are older than the call.
  "move of an older folder into place": (memory) => {
    rmSync(memory, { recursive: true });
    renameSync(olderFolders.pop() ?? "", memory);
    return backup;
  },
};

const boots = { "same start": thisBoot, "another start": "another start of the machine" };
const openings = {
  "a call": (store: StoreUnderTest, userId: string) =>
    store.holdUser(userId as UserId, { writes: false, until: performance.now() + 20_000 }, async () => {}),
  "the start": (store: StoreUnderTest) => store.retireLeftOver(),
};

const cases = Object.keys(byHand).flatMap((change) =>
  Object.keys(boots).flatMap((boot) =>
    Object.keys(openings).map((opening) => ({ change, boot, opening, userId: `${change}, ${boot}, ${opening}` })),
  ),
);

/** Whether a process that ends in this way leaves files that are not settled. */
const ends: Readonly<Record<End, boolean>> = { return: false, "process.exit": false, signal: true, kill: true };

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** Older than what the processes write. One for each test that puts one in place. */
const olderFolders = Array.from({ length: Object.keys(ends).length * 4 }, (_, at) => {
  const older = join(folder.path, `older-${at}`);
  mkdirSync(older);
  writeFileSync(join(older, "pref.md"), backup);
  writeFileSync(join(older, "secret.md"), "a secret\n");
  return older;
});

/** One process for each end; its data folder has a user for each case. */
const dataDirs = new Map(
  Object.keys(ends).map((end) => {
    const dataDir = join(folder.path, end);
    const input = JSON.stringify({ dataDir, userIds: cases.map(({ userId }) => userId), end });
    const { stdout, stderr } = spawnSync(process.execPath, [compiledScript("left-over/ending-process.js"), input]);
    if (stdout.toString() !== "acknowledged\n") throw new Error(`The process has not worked: ${stderr.toString()}`);
    return [end, dataDir];
  }),
);

/** Whether files are not settled. */
const isLeftOver = (dataDir: string, userId: string): boolean =>
  !isSettled(join(userFolder(dataDir, userId), ".memcell"), userId);

test.for(Object.entries(ends))("a process that ends by %s leaves files that are not settled: %s", ([end, isLeft]) => {
  const dataDir = dataDirs.get(end) ?? "";
  for (const { userId } of cases) expect(isLeftOver(dataDir, userId)).toBe(isLeft);
});

test("a store that is closed while it looks for what is left over keeps the process alive until it is closed", () => {
  using empty = temporaryFolder();
  mkdirSync(join(empty.path, "users/alice/memory"), { recursive: true });
  const ended = spawnSync(process.execPath, [compiledScript("left-over/closing-process.js"), empty.path]);
  expect({ status: ended.status, said: ended.stdout.toString() }).toEqual({ status: 0, said: "closed\n" });
});

test.for(Object.keys(ends).flatMap((end) => cases.map((each) => Object.assign({ end }, each))))(
  "after an end by $end: $change, then $boot, then $opening",
  async ({ end, change, boot, opening, userId }) => {
    const all = dataDirs.get(end) ?? "";
    // A data folder of its own, so that the retirement of what is left over meets only this user.
    const dataDir = join(folder.path, `${end} of ${userId}`);
    mkdirSync(join(dataDir, "users"), { recursive: true });
    renameSync(userFolder(all, userId), userFolder(dataDir, userId));
    const memory = join(userFolder(dataDir, userId), "memory");
    const second = readFileSync(join(memory, "pref.md"), "utf8");
    const first = second.replace("second", "first");
    const wanted = byHand[change]?.(memory, first) ?? null;
    const store = openFiles(
      new DiskRoot(dataDir),
      { durability: "full", note: () => {} },
      boots[boot as keyof typeof boots],
    );
    await openings[opening as keyof typeof openings](store, userId);
    await store.close();
    const files = readUserFiles(dataDir, userId);
    expect(files["memory/pref.md"] ?? null).toBe(wanted);
    if (change === "delete") expect(Object.values(files).join("\n")).not.toContain("a secret");
    else expect(files["memory/secret.md"]).toContain("a secret");
    if (change === "rename") expect(files["memory/mine.md"]).toBe(second);
    if (change === "move of an older folder into place") expect(files["memory/MEMORY.md"]).toBeUndefined();
    expect(isLeftOver(dataDir, userId)).toBe(false);
    expect(existsSync(join(memory, "restored"))).toBe(false);
  },
);
