/**
 * Where folders cannot be named by descriptor (macOS, Windows), the store names them by path and checks them before
 * each access. These tests run the store in that mode on this disk: it refuses links and other unsafe files as well.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { DiskRoot, openFiles } from "../crash/store-under-test.ts";
import type { StoreUnderTest } from "../crash/store-under-test.ts";
import type { ChangeSet, UserId } from "../stage/store.ts";
import { readStored } from "../support/read-stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = "alice" as UserId;

function openStore(dataDir: string): StoreUnderTest {
  return openFiles(new DiskRoot(dataDir, "path"), { durability: "full", note: () => {} });
}

async function commit(store: StoreUnderTest, changes: ChangeSet): Promise<void> {
  const options = { writes: true, until: performance.now() + 10_000 };
  await store.holdUser(alice, options, (held) => held.commit(changes, []));
}

const write = (path: string, content: string): ChangeSet[number] => ({ kind: "write", scope: "memory", path, content });

test("writes, reads and trashes as with descriptors", async () => {
  using folder = temporaryFolder();
  const store = openStore(join(folder.path, "data"));
  await commit(store, [write("a.md", "one"), write("MEMORY.md", "index")]);
  await commit(store, [
    { kind: "trash", scope: "memory", path: "a.md", trashed: "trash/a.1.md" },
    write("a.md", "two"),
  ]);
  expect(readStored(store, alice, "a.md")).toBe("two");
  await store.close();
  expect(readUserFiles(join(folder.path, "data"), "alice")).toEqual({
    "memory/MEMORY.md": "index",
    "memory/a.md": "two",
    "memory/trash/a.1.md": "one",
  });
});

test.for([
  {
    name: "a symbolic link for a file",
    lay: (mine: string, other: string) => symlinkSync(join(other, "x.md"), join(mine, "x.md")),
  },
  {
    name: "a hard link for a file",
    lay: (mine: string, other: string) => linkSync(join(other, "x.md"), join(mine, "x.md")),
  },
  {
    name: "a link for the scope's folder",
    lay: (mine: string, other: string) => {
      renameSync(mine, `${mine}-away`);
      symlinkSync(other, mine);
    },
  },
  {
    name: "a file for the scope's folder",
    lay: (mine: string) => {
      renameSync(mine, `${mine}-away`);
      writeFileSync(mine, "");
    },
  },
])("$name is STORAGE_UNSAFE to read and to write", async ({ lay }) => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": "mine" }, bob: { "memory/x.md": "secret" } });
  const bob = join(userFolder(folder.path, "bob"), "memory");
  lay(join(userFolder(folder.path, "alice"), "memory"), bob);
  const store = openStore(folder.path);
  expect(() => readStored(store, alice, "x.md")).toThrow(expect.objectContaining({ code: "STORAGE_UNSAFE" }));
  await expect(commit(store, [write("x.md", "mine")])).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  expect(readFileSync(join(bob, "x.md"), "utf8")).toBe("secret");
});

test("a commit into a folder that was renamed away during the call is refused", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  const place = userFolder(folder.path, "alice");
  const options = { writes: true, until: performance.now() + 10_000 };
  const held = store.holdUser(alice, options, async (user) => {
    renameSync(place, `${place}-away`);
    mkdirSync(place);
    await user.commit([write("a.md", "two")], []);
  });
  await expect(held).rejects.toMatchObject({ code: expect.stringMatching(/^STORAGE_/) });
  expect(readUserFiles(folder.path, "alice-away")).toEqual({ "memory/a.md": "one" });
});
