/**
 * A folder that is moved away, exchanged or removed between a guest's read and its commit, for example by a restore.
 * The call ends with a code, because the next call must find every acknowledged change.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ChangeSet } from "../stage/store.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { readStored } from "../support/read-stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { readUserFiles, writeUserFiles } from "../support/user-files.ts";
import { away, copied, exchanged, moves, userIn } from "./disturbed-folders.ts";
import type { Disturbance } from "./disturbed-folders.ts";
import { alice, codeOf, commit, entry, openStore, trash, write } from "./small-disk-store.ts";

const all: readonly Disturbance[] = [
  ...moves,
  { name: "the trash is replaced by a copy", disturb: (dataDir) => copied(join(userIn(dataDir), "memory/trash")) },
  {
    name: "the user's folder is exchanged with another user's",
    disturb: (dataDir) => exchanged(userIn(dataDir), join(dataDir, "users/bob")),
  },
];

const trashed = "trash/a.20260101T000000000Z.md";
const changeSets: { doing: string; changes: ChangeSet; shown: Record<string, string> }[] = [
  {
    doing: "writes",
    changes: entry("a", "new"),
    shown: { "memory/a.md": "new", "memory/MEMORY.md": "index a" },
  },
  {
    doing: "deletes",
    changes: [trash("a.md", trashed), write("MEMORY.md", "index without a")],
    shown: { [`memory/${trashed}`]: "one", "memory/MEMORY.md": "index without a" },
  },
];

const rows = all.flatMap((each) => changeSets.map((set) => Object.assign({}, each, set)));

test.for(rows)("$name while a call $doing", async ({ name, disturb, changes, shown }) => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, { bob: { "memory/a.md": "of bob", "memory/trash/old.md": "of bob" } });
  const store = openStore(dataDir);
  await commit(store, [...entry("old", "x"), ...entry("a", "one")]);
  await commit(store, [trash("old.md", "trash/old.20250101T000000000Z.md")]);
  const before = readUserFiles(dataDir, alice);
  const bobs = treeFingerprint(join(dataDir, "users/bob"));

  let isMoved = false;
  const work = store.hold(alice, { writes: true, until: performance.now() + 10_000 }, async (held) => {
    using reader = store.openUser(alice);
    for (const { path } of changes) reader.read("memory", path);
    if (!isMoved) disturb(dataDir, "");
    isMoved = true;
    await held.commit(changes, reader.seen);
  });
  const code = await codeOf(work);
  expect(code).toMatch(/^(ok|STORAGE_FAILED|STORAGE_UNSAFE)$/);
  const present = existsSync(userIn(dataDir)) ? readUserFiles(dataDir, alice) : {};
  // The next call finds an acknowledged change set. A refused one may be there as a whole, or not at all.
  if (code === "ok") expect(present).toMatchObject(shown);
  else if (name.includes("copy")) expect([before, expect.objectContaining(shown)]).toContainEqual(present);
  if (name.includes("exchanged")) {
    expect(code).toBe("STORAGE_FAILED");
    expect(treeFingerprint(userIn(dataDir))).toEqual(bobs);
    exchanged(userIn(dataDir), join(dataDir, "users/bob"));
  }

  await commit(store, entry("next", "served"));
  expect(readStored(store, alice, "next.md")).toBe("served");
  await store.close();
  expect(openDescriptors(folder.path)).toEqual([]);
});

test.for(changeSets)("a folder may be moved away and back while a call $doing", async ({ changes, shown }) => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, entry("a", "one"));
  await commit(store, changes, () => {
    away(userIn(folder.path));
    renameSync(`${userIn(folder.path)}.away`, userIn(folder.path));
  });
  expect(readUserFiles(folder.path, alice)).toMatchObject(shown);
  await store.close();
});

test("the WAL is retired although a file is in the place of a folder with fresh changes", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("notes/a.md", "one"), write("b.md", "one")]);
  const notes = join(userIn(folder.path), "memory/notes");
  rmSync(notes, { recursive: true });
  writeFileSync(notes, "a person's");
  await store.close();

  const next = openStore(folder.path);
  await commit(next, [write("b.md", "two")]);
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/b.md": "two", "memory/notes": "a person's" });
  await next.close();
});
