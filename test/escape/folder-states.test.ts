/**
 * Unexpected things in the folder of a user or of a shared store before a call, in each place that the host uses. The
 * host refuses them with a code or removes them. It never follows them or waits for them, and no other user is affected.
 */
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openDescriptorsAtRest } from "../support/open-descriptors.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { homeFolder, homes, makeFolders, openFolders, scopes, useFolder } from "./folder-stage.ts";
import type { Home, Outcomes } from "./folder-stage.ts";
import { fileTraps, folderTraps, layTrap } from "./folder-traps.ts";
import type { Trap } from "./folder-traps.ts";

const unsafe = "STORAGE_UNSAFE";
const closed: Outcomes = [unsafe, unsafe, unsafe, unsafe];
const open: Outcomes = ["ok", "ok", "ok", "ok"];

interface Place {
  readonly path: string;
  readonly traps: readonly Trap[];
  readonly outcomes: Outcomes;
  /** Other outcomes for a file of any size: nothing reads a lock's content, and a WAL with only zeros is empty. */
  readonly large?: Outcomes;
}

/** Traps in place of the host's own leftovers: it removes all but folders. A test below covers the missing trap. */
const ownTraps = fileTraps.filter(({ name }) => name !== "a second name of another user's file");
const withoutLock: Outcomes = ["ok", "ok", unsafe, unsafe];

const places: Readonly<Record<Home, readonly Place[]>> = {
  user: [
    { path: "", traps: folderTraps, outcomes: closed },
    { path: "memory", traps: folderTraps, outcomes: closed },
    { path: "memory/trash", traps: folderTraps, outcomes: ["ok", "ok", "ok", unsafe] },
    { path: ".memcell", traps: folderTraps, outcomes: closed },
    { path: "memory/x.md", traps: fileTraps, outcomes: [unsafe, "ok", unsafe, unsafe] },
    { path: "memory/MEMORY.md", traps: fileTraps, outcomes: ["ok", unsafe, unsafe, unsafe] },
    { path: ".memcell/owner", traps: fileTraps, outcomes: closed },
    { path: ".memcell/lock", traps: fileTraps, outcomes: closed, large: open },
    { path: ".memcell/turnstile", traps: fileTraps, outcomes: closed, large: open },
    { path: ".memcell/journal", traps: fileTraps, outcomes: closed, large: open },
    { path: ".memcell/staged-0", traps: ownTraps, outcomes: open },
    { path: ".memcell/staged-owner", traps: ownTraps, outcomes: open },
    { path: ".memcell/staged-journal", traps: ownTraps, outcomes: open },
  ],
  store: [
    { path: "", traps: folderTraps, outcomes: closed },
    { path: "entries", traps: folderTraps, outcomes: [unsafe, "ok", unsafe, "ok"] },
    { path: ".memcell", traps: folderTraps, outcomes: closed },
    // A view says that it cannot be read.
    { path: "entries/x.md", traps: fileTraps, outcomes: ["ok", "ok", "ENTRY_UNREADABLE", "ok"] },
    { path: ".memcell/owner", traps: fileTraps, outcomes: closed },
    { path: ".memcell/lock", traps: fileTraps, outcomes: withoutLock, large: open },
    { path: ".memcell/turnstile", traps: fileTraps, outcomes: withoutLock, large: open },
    { path: ".memcell/journal", traps: fileTraps, outcomes: closed, large: open },
    { path: ".memcell/grants.json", traps: fileTraps, outcomes: ["ok", unsafe, "ok", unsafe] },
    { path: ".memcell/creator", traps: fileTraps, outcomes: open },
  ],
};

const rows = homes.flatMap((home) =>
  places[home].flatMap(({ path, traps, outcomes, large = outcomes }) =>
    traps.map((trap) => {
      const expected = trap.name === "a sparse giant" ? large : outcomes;
      return { home, path, trap, name: trap.name, place: path || "the folder", expected, userId: "" };
    }),
  ),
);
for (const [at, row] of rows.entries()) row.userId = `row-${at}`;

const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
const hintsOf = (userId: string): string => join(dataDir, "stores/.granted", storeIdOf(userId));
const grantees = folderTraps.map((_, at) => `grantee-${at}`);
const others = ["beside", "alone", "owned", "spare", "two-names", "granter"];
let runtime: Runtime;
beforeAll(async () => {
  await makeFolders(folder.path, [...rows.map(({ userId }) => userId), ...others, ...grantees]);
  runtime = await openFolders(dataDir);
}, 60_000);
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

/** Uses a home. Fails when Bob's or what lies outside has changed, or when another user's cannot be used. */
async function use(home: Home, userId: string): Promise<Outcomes> {
  const watched = [homeFolder(dataDir, home, "bob"), join(folder.path, "outside")];
  const before = watched.map(treeFingerprint);
  const outcomes = await useFolder(runtime, home, userId, folder.path);
  expect(watched.map(treeFingerprint)).toEqual(before);
  const read = home === "user" ? "ReadUserMemory" : "memory";
  const input = home === "user" ? { name: "x" } : { command: "view", path: "/memories/x.md" };
  expect(await runtime.call(read, input, { userId: "beside" })).toMatchObject({ ok: true });
  expect(await openDescriptorsAtRest(homeFolder(dataDir, home, userId))).toEqual([]);
  return outcomes;
}

/** Lays a trap that leads to the same place of Bob's and outside, or to a file if that place is empty. */
function lay(trap: Trap, home: Home, userId: string, path: string): Promise<() => void> {
  const target = (root: string): string =>
    existsSync(join(root, path)) ? join(root, path) : join(root, scopes[home], "x.md");
  return layTrap(trap, {
    path: join(homeFolder(dataDir, home, userId), path),
    neighbours: target(homeFolder(dataDir, home, "bob")),
    outside: target(join(folder.path, "outside", home)),
  });
}

const needsRoot = "only root can make a device";
const cannotLay = ({ name }: Trap): boolean => name === "a device" && process.getuid?.() !== 0;

test.for(rows)("$name in place of $place of a $home", async ({ home, path, trap, expected, userId }, context) => {
  if (cannotLay(trap)) skipWithReason(context, needsRoot);
  const end = await lay(trap, home, userId, path);
  try {
    const own = join(homeFolder(dataDir, home, userId), scopes[home]);
    const before = expected[2] !== "ok" ? snapshot(own) : null;
    expect(await use(home, userId)).toEqual(expected);
    if (before) expect(snapshot(own)).toEqual(before);
  } finally {
    end();
  }
});

/** Returns `null` if this is not a folder. */
function snapshot(place: string): unknown {
  try {
    return treeFingerprint(place);
  } catch {
    return null;
  }
}

test.for(folderTraps.map((trap, at) => ({ trap, name: trap.name, grantee: `grantee-${at}` })))(
  "$name in place of a user's hints: no grant is made, and none is listed",
  async ({ trap, grantee }, context) => {
    if (cannotLay(trap)) skipWithReason(context, needsRoot);
    const hints = hintsOf("erin");
    const end = await layTrap(trap, {
      path: hintsOf(grantee),
      neighbours: hints,
      outside: join(folder.path, "outside"),
    });
    const before = [hints, join(folder.path, "outside"), homeFolder(dataDir, "store", "granter")].map(treeFingerprint);
    const granting = runtime.stores({ userId: "granter" }).grant(grantee, { level: "read" });
    await expect(granting).rejects.toMatchObject({ code: unsafe });
    await expect(runtime.stores({ userId: grantee }).list()).rejects.toMatchObject({ code: unsafe });
    const after = [hints, join(folder.path, "outside"), homeFolder(dataDir, "store", "granter")].map(treeFingerprint);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(await runtime.stores({ userId: "granter" }).grants()).toHaveLength(1);
    end();
  },
);

test.for(folderTraps.map((trap) => ({ trap, name: trap.name })))(
  "$name in place of the folder of all users, or of all stores",
  async ({ trap }, context) => {
    if (cannotLay(trap)) skipWithReason(context, needsRoot);
    using own = temporaryFolder();
    const [data, outside] = [join(own.path, "data"), join(own.path, "outside")];
    for (const [home, all] of [
      ["user", "users"],
      ["store", "stores"],
    ] as const) {
      mkdirSync(data, { recursive: true });
      mkdirSync(join(outside, all, "x"), { recursive: true });
      const before = treeFingerprint(outside);
      const [neighbours, path] = [join(outside, all), join(data, all)];
      const end = await layTrap(trap, { path, neighbours, outside: neighbours });
      const opened = await openFolders(data);
      expect(await useFolder(opened, home, "bob", own.path)).toEqual(closed);
      if (home === "store")
        await expect(opened.stores({ userId: "bob" }).list()).rejects.toMatchObject({ code: unsafe });
      await opened.close();
      expect(treeFingerprint(outside)).toEqual(before);
      end();
      rmSync(path, { force: true });
    }
  },
);

test("a hard link to another user's file among the host's own leftovers is removed, and the file stays", async () => {
  const leftover = join(homeFolder(dataDir, "user", "two-names"), ".memcell/staged-0");
  const other = join(homeFolder(dataDir, "user", "spare"), "memory/x.md");
  const text = readFileSync(other, "utf8");
  linkSync(other, leftover);
  expect(await use("user", "two-names")).toEqual(open);
  expect(existsSync(leftover)).toBe(false);
  expect(readFileSync(other, "utf8")).toBe(text);
});

test("a folder without an owner record belongs to its name's user, and gets the record with its next WAL", async () => {
  const own = join(homeFolder(dataDir, "user", "alone"), ".memcell");
  rmSync(own, { recursive: true });
  expect(await use("user", "alone")).toEqual(open);
  expect(readFileSync(join(own, "owner"), "utf8")).toBe("alone");
});

test.for([
  { name: "another id", record: "bob", is: "closed", expected: closed },
  { name: "the id and a line feed", record: "owned\n", is: "closed", expected: closed },
  { name: "the id in capitals", record: "OWNED", is: "closed", expected: closed },
  { name: "bytes that are not text", record: "\ufffd\ufffd", is: "closed", expected: closed },
  { name: "nothing", record: "", is: "used", expected: open },
])("a folder whose owner record holds $name is $is", async ({ record, expected }) => {
  writeFileSync(join(homeFolder(dataDir, "user", "owned"), ".memcell/owner"), record);
  expect(await use("user", "owned")).toEqual(expected);
});

test("folders and files are created with access for the owner only", () => {
  for (const home of homes) {
    const find = [homeFolder(dataDir, home, "spare"), "-printf", "%y %m\n"];
    const modes = execFileSync("find", find, { encoding: "utf8" }).trim().split("\n");
    expect(new Set(modes)).toEqual(new Set(["d 700", "f 600"]));
  }
});
