/**
 * A folder that is moved away, exchanged or removed between a guest's read and its commit, for example by a restore.
 * The call ends with a code, because the next call must find every acknowledged change.
 */
import { cpSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ChangeSet } from "../stage/store.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { readStored } from "../support/read-stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { readUserFiles, writeUserFiles } from "../support/user-files.ts";
import { alice, codeOf, commit, entry, openStore, trash, write } from "./small-disk-store.ts";

interface Move {
  readonly name: string;
  /** Receives the data folder. */
  readonly move: (dataDir: string) => void;
}

const away = (path: string): void => renameSync(path, `${path}.away`);
const restored = (path: string): void => {
  away(path);
  cpSync(`${path}.away`, path, { recursive: true });
};
const exchanged = (a: string, b: string): void => {
  renameSync(a, `${a}.between`);
  renameSync(b, a);
  renameSync(`${a}.between`, b);
};
const user = (dataDir: string): string => join(dataDir, "users/alice");

const places = [
  { name: "the user's folder", at: user },
  { name: "the scope's folder", at: (dataDir: string) => join(user(dataDir), "memory") },
  { name: "the host's own folder", at: (dataDir: string) => join(user(dataDir), ".memcell") },
  { name: "the folder of all users", at: (dataDir: string) => join(dataDir, "users") },
  { name: "the data folder", at: (dataDir: string) => dataDir },
];

const moves: Move[] = [
  ...places.flatMap(({ name, at }): Move[] => [
    { name: `${name} is moved away`, move: (dataDir) => away(at(dataDir)) },
    { name: `${name} is replaced by a copy`, move: (dataDir) => restored(at(dataDir)) },
    { name: `${name} is removed`, move: (dataDir) => rmSync(at(dataDir), { recursive: true }) },
  ]),
  { name: "the trash is replaced by a copy", move: (dataDir) => restored(join(user(dataDir), "memory/trash")) },
  {
    name: "the user's folder is exchanged with another user's",
    move: (dataDir) => exchanged(user(dataDir), join(dataDir, "users/bob")),
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

const rows = moves.flatMap((each) => changeSets.map((set) => Object.assign({}, each, set)));

test.for(rows)("$name while a call $doing", async ({ name, move, changes, shown }) => {
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
    if (!isMoved) move(dataDir);
    isMoved = true;
    await held.commit(changes, reader.seen);
  });
  const code = await codeOf(work);
  expect(code).toMatch(/^(ok|STORAGE_FAILED|STORAGE_UNSAFE)$/);
  const present = existsSync(user(dataDir)) ? readUserFiles(dataDir, alice) : {};
  // The next call finds an acknowledged change set. A refused one may be there as a whole, or not at all.
  if (code === "ok") expect(present).toMatchObject(shown);
  else if (name.includes("copy")) expect([before, expect.objectContaining(shown)]).toContainEqual(present);
  if (name.includes("exchanged")) {
    expect(code).toBe("STORAGE_FAILED");
    expect(treeFingerprint(user(dataDir))).toEqual(bobs);
    exchanged(user(dataDir), join(dataDir, "users/bob"));
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
    away(user(folder.path));
    renameSync(`${user(folder.path)}.away`, user(folder.path));
  });
  expect(readUserFiles(folder.path, alice)).toMatchObject(shown);
  await store.close();
});

test("the WAL is retired although a file is in the place of a folder with fresh changes", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("notes/a.md", "one"), write("b.md", "one")]);
  const notes = join(user(folder.path), "memory/notes");
  rmSync(notes, { recursive: true });
  writeFileSync(notes, "a person's");
  await store.close();

  const next = openStore(folder.path);
  await commit(next, [write("b.md", "two")]);
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/b.md": "two", "memory/notes": "a person's" });
  await next.close();
});
