/**
 * Faults that a review of the store's code found, each with the steps that showed it. The cases of the other suites,
 * which are random or listed, did not cover them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { nothingKept } from "./homes/subjects.ts";
import { alice, commit, openStore, remove, trash, write } from "./small-disk-store.ts";

test("a file that is trashed and written again with the same text is in both places", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "same")]);
  await commit(store, [trash("a.md", "trash/a.md"), write("a.md", "same")]);
  await store.close();
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "same", "memory/trash/a.md": "same" });
});

test("a file that was purged right after it was trashed stays gone, also in a backup", async () => {
  using folder = temporaryFolder();
  const [data, copy] = [join(folder.path, "data"), join(folder.path, "copy")];
  const store = openStore(data, {}, "first start");
  await commit(store, [write("a.md", "one"), write("b.md", "two")]);
  await commit(store, [trash("a.md", "trash/a.md")]);
  await commit(store, [remove("trash/a.md")]);
  // In the copy no times show what happened after the record that put the file into the trash.
  cpSync(data, copy, { recursive: true });
  for (const dataDir of [data, copy]) {
    const next = openStore(dataDir, {}, "second start");
    await commit(next, [write("c.md", "three")]);
    expect(readUserFiles(dataDir, alice)).toEqual({ "memory/b.md": "two", "memory/c.md": "three" });
    await next.close();
  }
  await store.close();
});

test('a file named "null" is removed like any other', async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("null", "x"), write("a.md", "a")]);
  await commit(store, [remove("null")]);
  await store.close();
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "a" });
});

test("a lock file that was removed lets no second holder in, and nothing is acknowledged under it", async () => {
  using folder = temporaryFolder();
  const [first, second] = [openStore(folder.path), openStore(folder.path)];
  await commit(first, [write("a.md", "one")]);
  const options = { writes: true, until: performance.now() + 10_000 };
  const held = first.hold(alice, options, async (user) => {
    rmSync(join(userFolder(folder.path, alice), ".memcell", "lock"));
    await commit(second, [write("b.md", "two")]);
    await user.commit([write("a.md", "lost")], []);
  });
  await expect(held).rejects.toMatchObject({ code: "STORAGE_FAILED" });
  await Promise.all([first.close(), second.close()]);
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "one", "memory/b.md": "two" });
});

test("a call that finds records has them retired, even if it only reads", async () => {
  using folder = temporaryFolder();
  await commit(openStore(folder.path), [write("a.md", "one")]);
  const reader = openStore(folder.path);
  await reader.hold(alice, { writes: false, until: performance.now() + 10_000 }, async () => {});
  await reader.close();
  writeFileSync(join(userFolder(folder.path, alice), "memory", "a.md"), "edited by hand");
  const later = openStore(folder.path, {}, "another start of the machine");
  await later.hold(alice, { writes: false, until: performance.now() + 10_000 }, async () => {});
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "edited by hand" });
});

test("a record is retired although its file has got a second name", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  linkSync(join(userFolder(folder.path, alice), "memory/a.md"), join(folder.path, "backup.md"));
  await store.close();
  expect(readFileSync(join(folder.path, "backup.md"), "utf8")).toBe("one");
  const wal = readFileSync(join(userFolder(folder.path, alice), ".memcell", "journal"));
  // Retired: no record is left.
  expect(wal.includes("\nrecord ") || wal.subarray(4096).includes("record ")).toBe(false);
});

test("the first call that flushes makes a user durable who was set up without flushes", async () => {
  using folder = temporaryFolder();
  const relaxed = openStore(folder.path, { durability: "relaxed" });
  await commit(relaxed, [write("a.md", "one")]);
  const wal = join(userFolder(folder.path, alice), ".memcell", "journal");
  expect(readFileSync(wal)[4094]).toBe("~".charCodeAt(0));
  const full = openStore(folder.path);
  await commit(full, [write("a.md", "two")]);
  expect(readFileSync(wal)[4094]).toBe(0);
  await Promise.all([relaxed.close(), full.close()]);
});

test("whole files are written to a scope that is a mount of its own", async (context) => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  await store.close();
  const memory = join(userFolder(folder.path, alice), "memory");
  const mounted = spawnSync("mount", ["-t", "tmpfs", "none", memory]);
  if (mounted.status !== 0) skipWithReason(context, "mounting is not permitted here");
  try {
    const mountedStore = openStore(folder.path);
    await commit(mountedStore, [write("b.md", "two")]);
    await commit(mountedStore, [trash("b.md", "trash/b.md"), write("b.md", "three")]);
    await mountedStore.close();
    expect(readUserFiles(folder.path, alice)).toEqual({ "memory/b.md": "three", "memory/trash/b.md": "two" });
    expect(existsSync(join(memory, ".memcell-staged"))).toBe(false);
  } finally {
    execFileSync("umount", [memory]);
  }
});

test("a change set whose record could not be read back is refused before any change", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  const memory = join(userFolder(folder.path, alice), "memory");
  mkdirSync(join(memory, "big"));
  const paths = Array.from({ length: 42 }, (_, at) => `big/${at}.md`);
  for (const path of paths) writeFileSync(join(memory, path), Buffer.alloc(2 * 1024 * 1024, "x"));
  const tooMuch = paths.map((path) => trash(path, `trash/${path}`));
  await expect(commit(store, tooMuch)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  await commit(store, [write("a.md", "two")]);
  await store.close();
  expect(readFileSync(join(memory, "a.md"), "utf8")).toBe("two");
  expect(existsSync(join(memory, "big", "41.md"))).toBe(true);
});

test("the user's other files can be used despite a hard link that was made by hand", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one"), write("b.md", "b")]);
  const memory = join(userFolder(folder.path, alice), "memory");
  linkSync(join(memory, "a.md"), join(folder.path, "backup.md"));
  await expect(commit(store, [write("a.md", "two")])).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  await commit(store, [write("b.md", "c")]);
  await store.close();
  expect(readFileSync(join(memory, "b.md"), "utf8")).toBe("c");
});

const hold = (writes: boolean) => ({ writes, until: performance.now() + 10_000 });

test("what a killed process has left of a record is told by the doctor, and removed by the next call", async () => {
  using folder = temporaryFolder();
  const [store, knowing] = [openStore(folder.path, { kept: nothingKept }), openStore(folder.path)];
  await commit(store, [write("a.md", "a")]);
  await store.holdRecords(alice, hold(true), (records) => records.write("pending", "w-1", "{}"));
  const own = join(userFolder(folder.path, alice), ".memcell");
  const leftovers = ["staged-mark", "staged-record"];
  expect(leftovers.filter((name) => existsSync(join(own, name)))).toEqual([]);
  for (const name of leftovers) writeFileSync(join(own, name), "Of a page that nobody has approved.");
  const looking = { ...hold(false), isLookingOnly: true };
  const findings = await knowing.hold(alice, looking, (held) => held.findings());
  const told = findings.flatMap(({ code, path }) => (code === "temporary-file" ? [path] : []));
  expect(told.toSorted()).toEqual(leftovers.map((name) => `.memcell/${name}`));
  expect(await store.holdRecords(alice, hold(false), (records) => records.names("pending"))).toEqual(["w-1"]);
  expect(leftovers.filter((name) => existsSync(join(own, name)))).toEqual([]);
  await Promise.all([store.close(), knowing.close()]);
});

test("a person's folder that a killed process has exchanged for its file stays, and calls succeed", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  const traded = join(userFolder(folder.path, alice), ".memcell/staged-0");
  mkdirSync(traded);
  writeFileSync(join(traded, "notes.md"), "of a person");
  await commit(store, [write("a.md", "two")]);
  await store.close();
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "two" });
  expect(readFileSync(join(traded, "notes.md"), "utf8")).toBe("of a person");
});

test("a folder in the place of a file is not replaced, and a call beside it succeeds", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("b.md", "one")]);
  const memory = join(userFolder(folder.path, alice), "memory");
  mkdirSync(join(memory, "a.md"));
  writeFileSync(join(memory, "a.md/mine.md"), "mine");
  await expect(commit(store, [write("a.md", "two")])).rejects.toMatchObject({ code: expect.any(String) });
  await commit(store, [write("b.md", "two")]);
  await store.close();
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md/mine.md": "mine", "memory/b.md": "two" });
});
