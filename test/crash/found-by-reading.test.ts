/**
 * Faults that a review of the store's code found, each with the steps that showed it. The cases of the other suites,
 * which are random or listed, did not cover them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ChangeSet, UserId } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { DiskRoot, FileStore } from "./host-under-test.ts";

const alice = "alice" as UserId;
type Store = InstanceType<typeof FileStore>;

function openStore(dataDir: string, durability: "full" | "relaxed" = "full", boot?: string): Store {
  return new FileStore(new DiskRoot(dataDir), { durability, note: () => {} }, boot);
}

function commit(store: Store, changes: ChangeSet): Promise<void> {
  const options = { writes: true, until: performance.now() + 10_000 };
  return store.hold(alice, options, (held) => held.commit(changes, []));
}

const write = (path: string, content: string): ChangeSet[number] => ({ kind: "write", scope: "memory", path, content });
const trash = (path: string, trashed: string): ChangeSet[number] => ({ kind: "trash", scope: "memory", path, trashed });
const remove = (path: string): ChangeSet[number] => ({ kind: "remove", scope: "memory", path });

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
  const store = openStore(data, "full", "first start");
  await commit(store, [write("a.md", "one"), write("b.md", "two")]);
  await commit(store, [trash("a.md", "trash/a.md")]);
  await commit(store, [remove("trash/a.md")]);
  // In the copy no times show what happened after the record that put the file into the trash.
  cpSync(data, copy, { recursive: true });
  for (const dataDir of [data, copy]) {
    const next = openStore(dataDir, "full", "second start");
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
  const later = openStore(folder.path, "full", "another start of the machine");
  await later.hold(alice, { writes: false, until: performance.now() + 10_000 }, async () => {});
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "edited by hand" });
});

test("a record is retired although its file has got a second name", async () => {
  using folder = temporaryFolder();
  const program = `
    const { FileStore } = await import(process.argv[1] + "/store/files/file-store.js");
    const { DiskRoot } = await import(process.argv[1] + "/disk/data-root.js");
    const store = new FileStore(new DiskRoot(process.argv[2]), { durability: "full", note: () => {} });
    await store.hold("alice", { writes: true, until: performance.now() + 9e3 }, (held) =>
      held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "one" }], []));
    const { linkSync } = await import("node:fs");
    linkSync(process.argv[2] + "/users/alice/memory/a.md", process.argv[2] + "/backup.md");
    await store.close();`;
  const { hostFolder } = await import("./host-under-test.ts");
  const args = ["--input-type=module", "-e", program, hostFolder, folder.path];
  execFileSync(process.execPath, args);
  expect(readFileSync(join(folder.path, "backup.md"), "utf8")).toBe("one");
  const wal = readFileSync(join(userFolder(folder.path, alice), ".memcell", "journal"));
  // Retired: no record is left.
  expect(wal.includes("\nrecord ") || wal.subarray(4096).includes("record ")).toBe(false);
});

test("the first call that flushes makes a user durable who was set up without flushes", async () => {
  using folder = temporaryFolder();
  const relaxed = openStore(folder.path, "relaxed");
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
