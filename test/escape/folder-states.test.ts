/**
 * Unexpected things in a user's folder before a call, in each place that the host uses. The host refuses them with a
 * code or removes them. It never follows them or waits for them, and no other user is affected.
 */
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { afterAll, expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { openFolderStage } from "./folder-stage.ts";
import type { Outcomes } from "./folder-stage.ts";
import { fileTraps, folderTraps, layTrap, pathIn } from "./folder-traps.ts";
import type { Trap } from "./folder-traps.ts";

const unsafe = "STORAGE_UNSAFE";
const closed: Outcomes = { read: unsafe, index: unsafe, upsert: unsafe, remove: unsafe };
const open: Outcomes = { read: "ok", index: "ok", upsert: "ok", remove: "ok" };

interface Place {
  readonly path: string;
  readonly traps: readonly Trap[];
  readonly outcomes: Outcomes;
  /** Other outcomes, by the trap's name. */
  readonly except?: Readonly<Record<string, Outcomes>>;
}

/** Nothing reads a lock's content, and a WAL with only zeros is empty. */
const largeWillDo = { "a sparse giant": open };
/** Traps in place of the host's own leftovers: it removes all but folders. A test below covers the missing trap. */
const ownTraps = fileTraps.filter(({ name }) => name !== "a second name of another user's file");

const places: readonly Place[] = [
  { path: "", traps: folderTraps, outcomes: closed },
  { path: "memory", traps: folderTraps, outcomes: closed },
  { path: "memory/trash", traps: folderTraps, outcomes: { ...open, remove: unsafe } },
  { path: ".memcell", traps: folderTraps, outcomes: closed },
  { path: "memory/x.md", traps: fileTraps, outcomes: { ...closed, index: "ok" } },
  { path: "memory/MEMORY.md", traps: fileTraps, outcomes: { ...closed, read: "ok" } },
  { path: ".memcell/owner", traps: fileTraps, outcomes: closed },
  { path: ".memcell/lock", traps: fileTraps, outcomes: closed, except: largeWillDo },
  { path: ".memcell/turnstile", traps: fileTraps, outcomes: closed, except: largeWillDo },
  { path: ".memcell/journal", traps: fileTraps, outcomes: closed, except: largeWillDo },
  { path: ".memcell/staged-0", traps: ownTraps, outcomes: open },
  { path: ".memcell/staged-owner", traps: ownTraps, outcomes: open },
  { path: ".memcell/staged-journal", traps: ownTraps, outcomes: open },
];

const rows = places.flatMap(({ path, traps, outcomes, except = {} }) =>
  traps.map((trap) => ({ place: path || "the user's folder", path, trap, outcomes: except[trap.name] ?? outcomes })),
);
const idOf = (at: number): string => `row-${at}`;
const ids = [...rows.map((_, at) => idOf(at)), "no-owner", "empty-owner", "spare", "two-names"];
const stage = await openFolderStage(ids);
afterAll(() => stage.close());

/** The target of a trap: the same place in another folder, or a file if that place is empty. */
function wayOut(folder: string, path: string): string {
  const same = pathIn(folder, path);
  return existsSync(same) ? same : pathIn(folder, "memory/x.md");
}

test.for(rows.map((row, at) => Object.assign({ at, name: row.trap.name }, row)))(
  "$name in place of $place",
  async ({ path, trap, outcomes, at }, context) => {
    if (trap.name === "a device" && process.getuid?.() !== 0) skipWithReason(context, "only root can make a device");
    const folder = stage.folderOf(idOf(at));
    const end = await layTrap(trap, {
      path: pathIn(folder, path),
      neighbours: wayOut(stage.folderOf("bob"), path),
      outside: wayOut(stage.outside, path),
    });
    try {
      const own = pathIn(folder, "memory");
      const before = outcomes.upsert === unsafe ? snapshot(own) : null;
      expect(await stage.use(idOf(at))).toEqual(outcomes);
      if (before) expect(snapshot(own)).toEqual(before);
    } finally {
      end();
    }
  },
);

/** Returns `null` if this is not a folder. */
function snapshot(folder: string): unknown {
  try {
    return treeFingerprint(folder);
  } catch {
    return null;
  }
}

test("a hard link to another user's file among the host's own leftovers is removed, and the file stays", async () => {
  const leftover = pathIn(stage.folderOf("two-names"), ".memcell/staged-0");
  const other = pathIn(stage.folderOf("spare"), "memory/x.md");
  const text = readFileSync(other, "utf8");
  linkSync(other, leftover);
  expect(await stage.use("two-names")).toEqual(open);
  expect(existsSync(leftover)).toBe(false);
  expect(readFileSync(other, "utf8")).toBe(text);
});

test("a folder without an owner record belongs to its name's user, and gets the record with its next WAL", async () => {
  const folder = stage.folderOf("no-owner");
  rmSync(pathIn(folder, ".memcell"), { recursive: true });
  expect(await stage.use("no-owner")).toEqual(open);
  expect(readFileSync(pathIn(folder, ".memcell/owner"), "utf8")).toBe("no-owner");
});

test.for([
  { name: "another id", record: "bob" },
  { name: "the id and a line feed", record: "empty-owner\n" },
  { name: "the id in capitals", record: "EMPTY-OWNER" },
  { name: "bytes that are not text", record: "\ufffd\ufffd" },
])("an owner record that holds $name closes the folder", async ({ record }) => {
  writeFileSync(pathIn(stage.folderOf("empty-owner"), ".memcell/owner"), record);
  expect(await stage.use("empty-owner")).toEqual(closed);
});

test("an empty owner record says as little as none", async () => {
  writeFileSync(pathIn(stage.folderOf("empty-owner"), ".memcell/owner"), "");
  expect(await stage.use("empty-owner")).toEqual({ read: "ok", index: "ok", upsert: "ok", remove: "ok" });
});

test.for(folderTraps.map((trap) => ({ trap, name: trap.name })))(
  "$name in place of the folder of all users",
  async ({ trap }) => {
    const own = await openFolderStage([]);
    try {
      const users = pathIn(own.dataDir, "users");
      const elsewhere = pathIn(own.outside, "users");
      execFileSync("mv", [users, elsewhere]);
      const before = treeFingerprint(own.outside);
      const end = await layTrap(trap, { path: users, neighbours: elsewhere, outside: elsewhere });
      expect(await own.useAlone("bob")).toEqual(closed);
      expect(treeFingerprint(own.outside)).toEqual(before);
      end();
    } finally {
      await own.close();
    }
  },
);

test("folders and files are created with access for the owner only", () => {
  const find = [stage.folderOf("carol"), "-printf", "%y %m\n"];
  const modes = execFileSync("find", find, { encoding: "utf8" }).trim().split("\n");
  expect(new Set(modes)).toEqual(new Set(["d 700", "f 600"]));
});
