/**
 * What happens to a user's folders behind the store's back, for example by a restore: between two calls of a session that
 * is kept, or between a call's read and its commit. The call ends with a code, or the next one finds what it has
 * acknowledged.
 */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { framesOf, lastSegment } from "../stage/journal.ts";
import type { ChangeSet } from "../stage/store.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { readStored } from "../support/read-stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { readUserFiles, writeUserFiles } from "../support/user-files.ts";
import { alice, codeOf, commit, entry, openStore, trash, write } from "./small-disk-store.ts";

interface Disturbance {
  readonly name: string;
  /** Receives the data folder. `backup`: a copy of the user's folder from before. */
  readonly disturb: (dataDir: string, backup: string) => void;
}

const userIn = (dataDir: string): string => join(dataDir, "users/alice");
const own = (dataDir: string, name: string): string => join(userIn(dataDir), ".memcell", name);
const away = (path: string): void => renameSync(path, `${path}.away`);
const replaceByCopy = (path: string): void => {
  away(path);
  cpSync(`${path}.away`, path, { recursive: true });
};
const exchangeWithBob = (dataDir: string): void => {
  const [user, bob] = [userIn(dataDir), join(dataDir, "users/bob")];
  renameSync(user, `${user}.between`);
  renameSync(bob, user);
  renameSync(`${user}.between`, bob);
};

const moves = [
  { of: "the user's folder", at: "users/alice" },
  { of: "the scope's folder", at: "users/alice/memory" },
  { of: "the host's own folder", at: "users/alice/.memcell" },
  { of: "the folder of all users", at: "users" },
  { of: "the data folder", at: "" },
].flatMap(({ of, at }): Disturbance[] => [
  { name: `${of} is moved away`, disturb: (dataDir) => away(join(dataDir, at)) },
  { name: `${of} is replaced by a copy`, disturb: (dataDir) => replaceByCopy(join(dataDir, at)) },
  { name: `${of} is removed`, disturb: (dataDir) => rmSync(join(dataDir, at), { recursive: true }) },
]);

const segment = "journal/000000000001.log";

const restores: readonly Disturbance[] = [
  ...["lock", "turnstile", segment, "journal-head", "owner"].flatMap((name): Disturbance[] => [
    { name: `"${name}" is removed`, disturb: (dataDir) => rmSync(own(dataDir, name)) },
    {
      name: `"${name}" is replaced by an older copy`,
      disturb: (dataDir, backup) => renameSync(join(backup, ".memcell", name), own(dataDir, name)),
    },
    {
      name: `an older copy is written over "${name}"`,
      disturb: (dataDir, backup) => writeFileSync(own(dataDir, name), readFileSync(join(backup, ".memcell", name))),
    },
  ]),
  { name: "the journal is emptied", disturb: (dataDir) => writeFileSync(own(dataDir, segment), "") },
  { name: "the journal is removed", disturb: (dataDir) => rmSync(own(dataDir, "journal"), { recursive: true }) },
  {
    name: "a backup of the user's folder is copied over it",
    disturb: (dataDir, backup) => cpSync(backup, userIn(dataDir), { recursive: true }),
  },
  {
    name: "a backup of the user's folder is moved into its place",
    disturb: (dataDir, backup) => {
      away(userIn(dataDir));
      renameSync(backup, userIn(dataDir));
    },
  },
];

/** A wait for a home. */
const within = (ms: number) => ({ writes: true, until: performance.now() + ms });

const filesIn = (dataDir: string): Record<string, string> =>
  existsSync(userIn(dataDir)) ? readUserFiles(dataDir, alice) : {};

const between: readonly Disturbance[] = [{ name: "nothing happens", disturb: () => {} }, ...moves, ...restores];

test.for(between)("a call after a kept session in which $name", async ({ disturb }) => {
  using folder = temporaryFolder();
  const [dataDir, backup] = [join(folder.path, "data"), join(folder.path, "backup")];
  const kept = { idleMs: 60_000, ageMs: 60_000, sessionsMax: 32 };
  const store = openStore(dataDir, { kept }, "boot");
  await commit(store, entry("a", "one"));
  cpSync(userIn(dataDir), backup, { recursive: true });
  await commit(store, [...entry("b", "one"), write("a.md", "two")]);
  expect(openDescriptors(dataDir)).not.toEqual([]);

  disturb(dataDir, backup);
  const before = filesIn(dataDir);
  await commit(store, entry("c", "new"));
  const wanted = { ...before, "memory/c.md": "new", "memory/MEMORY.md": "index c" };
  expect(filesIn(dataDir)).toEqual(wanted);
  expect(framesIn(lastSegment(own(dataDir, "")))).toContain("index c");

  const later = openStore(dataDir, { kept }, "a later start");
  await store.close();
  await later.holdUser(alice, { writes: false, until: performance.now() + 10_000 }, () => Promise.resolve());
  expect(filesIn(dataDir)).toEqual(wanted);
  await later.close();
  expect(openDescriptors(folder.path)).toEqual([]);
});

/** The frames that recovery would find: each begins where the one before it ends. */
function framesIn(path: string): string {
  const bytes = readFileSync(path);
  return bytes.toString("utf8", 0, framesOf(bytes, alice).end);
}

const duringCalls: readonly Disturbance[] = [
  ...moves,
  {
    name: "the user's folder is moved away and back",
    disturb: (dataDir) => {
      away(userIn(dataDir));
      renameSync(`${userIn(dataDir)}.away`, userIn(dataDir));
    },
  },
  {
    name: "the trash is replaced by a copy",
    disturb: (dataDir) => replaceByCopy(join(userIn(dataDir), "memory/trash")),
  },
  { name: "the user's folder is exchanged with another user's", disturb: exchangeWithBob },
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

const rows = duringCalls.flatMap((each) => changeSets.map((set) => Object.assign({}, each, set)));

test.for(rows)("$name while a call $doing", async ({ name, disturb, changes, shown }) => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, { bob: { "memory/a.md": "of bob", "memory/trash/old.md": "of bob" } });
  const store = openStore(dataDir);
  await commit(store, [...entry("old", "x"), ...entry("a", "one")]);
  await commit(store, [trash("old.md", "trash/old.20250101T000000000Z.md")]);
  const before = readUserFiles(dataDir, alice);
  const bobs = treeFingerprint(join(dataDir, "users/bob"));

  let isDisturbed = false;
  const work = store.holdUser(alice, within(10_000), async (held) => {
    using reader = store.open(alice);
    for (const { path } of changes) reader.read("memory", path);
    if (!isDisturbed) disturb(dataDir, "");
    isDisturbed = true;
    await held.commit(changes, reader.seen);
  });
  const code = await codeOf(work);
  expect(code).toMatch(name.includes("and back") ? /^ok$/ : /^(ok|STORAGE_FAILED|STORAGE_UNSAFE)$/);
  const present = filesIn(dataDir);
  // The next call finds an acknowledged change set. A refused one may be there as a whole, or not at all.
  if (code === "ok") expect(present).toMatchObject(shown);
  else if (name.includes("copy")) expect([before, expect.objectContaining(shown)]).toContainEqual(present);
  if (name.includes("exchanged")) {
    expect(code).toBe("STORAGE_FAILED");
    expect(treeFingerprint(userIn(dataDir))).toEqual(bobs);
    exchangeWithBob(dataDir);
  }

  await commit(store, entry("next", "served"));
  expect(readStored(store, alice, "next.md")).toBe("served");
  await store.close();
  expect(openDescriptors(folder.path)).toEqual([]);
});

test("a call whose lock is removed while it waits for it still keeps all others out", async () => {
  using folder = temporaryFolder();
  const [first, waiting, late] = [openStore(folder.path), openStore(folder.path), openStore(folder.path)];
  await commit(first, entry("a", "one"));
  const lock = own(folder.path, "lock");
  const codes: string[] = [];
  let wait = Promise.resolve();
  await first.holdUser(alice, within(10_000), async () => {
    wait = waiting.holdUser(alice, within(10_000), async (held) => {
      codes.push(await codeOf(late.holdUser(alice, within(0), () => Promise.resolve())));
      await held.commit(entry("b", "two"), []);
    });
    while (openDescriptors(folder.path).filter((path) => path === lock).length < 2) await setImmediate();
    rmSync(lock);
  });
  await wait;
  expect(codes).toEqual(["BUSY"]);
  await commit(late, entry("c", "three"));
  expect(Object.keys(filesIn(folder.path)).toSorted()).toEqual(
    ["MEMORY.md", "a.md", "b.md", "c.md"].map((name) => `memory/${name}`),
  );
  for (const store of [first, waiting, late]) await store.close();
});
