/**
 * Unexpected things in the folder of a user or of a shared store before a call, in each place that the host uses. The
 * host refuses them with a code or removes them. It never follows them or waits for them, and no other user is affected.
 * Each user has a folder and a shared store. Bob's are the target, and copies of them outside the data folder.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openDescriptorsAtRest } from "../support/open-descriptors.ts";
import { runCommand } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";
import { fileTraps, folderTraps, layTrap } from "./folder-traps.ts";
import type { Trap } from "./folder-traps.ts";

/** Part of every text of Bob, and so of what lies outside. */
const secret = "secret of bob";

const homes = ["user", "store"] as const;
type Home = (typeof homes)[number];

/** `ok` or a code for each use: of a user's memory a reading, the index, an upsert, a deletion; of a store as below. */
type Outcomes = readonly [read: string, list: string, write: string, other: string];

const scopes = { user: "memory", store: "entries" } as const;

function homeFolder(dataDir: string, home: Home, userId: string): string {
  return home === "user" ? userFolder(dataDir, userId) : join(dataDir, "stores", storeIdOf(userId));
}

const openFolders = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1 });

const factOf = (name: string, text: string) => ({
  action: "upsert",
  name,
  type: "user",
  description: text,
  body: text,
});
const create = (content: string) => ({ command: "create", path: "/memories/x.md", content });

/** Each user gets an entry, its index, a file in the trash, a journal, and a store with an entry and a grant. */
async function makeFolders(folder: string, userIds: readonly string[]): Promise<void> {
  const dataDir = join(folder, "data");
  await using runtime = await createRuntime({
    dataDir,
    plugins: ["user-memory", "stores"],
    threadsMax: 1,
    durability: "relaxed",
  });
  const make = async (userId: string): Promise<void> => {
    const text = userId === "bob" ? secret : `of ${userId}`;
    const call = async (tool: string, input: object): Promise<void> =>
      expect(await runtime.call(tool, input, { userId })).toMatchObject({ ok: true });
    for (const name of ["x", "old"]) await call("UpdateUserMemory", factOf(name, text));
    await call("UpdateUserMemory", { action: "delete", name: "old" });
    await call("memory", create(text));
    await runtime.stores({ userId }).grant("erin", { level: "read" });
  };
  await Promise.all(["bob", ...userIds].map(make));
  await runtime.close();
  for (const home of homes)
    cpSync(homeFolder(dataDir, home, "bob"), join(folder, "outside", home), { recursive: true });
}

/** Uses a user's memory, or the user's own store. Fails when an answer reveals anything of Bob or the machine. */
async function useFolder(runtime: Runtime, home: Home, userId: string, folder: string): Promise<Outcomes> {
  const ctx = { userId };
  const told = async (work: Promise<unknown>): Promise<string> => {
    const [code, shown] = await work.then(
      (answer) => [(answer as ToolResult | undefined)?.ok === false ? codeOf(answer) : "ok", answer] as const,
      (error: Error & { readonly code: string }) => [error.code, error.message] as const,
    );
    const text = JSON.stringify(shown) ?? "";
    expect(text).not.toContain(secret);
    expect(text).not.toContain(folder);
    expect(text).not.toMatch(/\bE(?:NOENT|LOOP|ISDIR|NOTDIR|ACCES|PERM|XIO|XDEV|INVAL|IO)\b|\/proc\/|\\n {4}at /);
    return code;
  };
  const call = (tool: string, input: object): Promise<string> => told(runtime.call(tool, input, ctx));
  if (home === "store") {
    const read = await call("memory", { command: "view", path: "/memories/x.md" });
    const list = await told(runtime.stores(ctx).grants());
    const write = await call("memory", create("mine"));
    return [read, list, write, await told(runtime.stores(ctx).grant("dave", { level: "read" }))];
  }
  const read = await call("ReadUserMemory", { name: "x" });
  // One family alone, because an index of several families leaves out one that cannot be read.
  const list = await told(runtime.memoryIndex(ctx, { family: "user-memory" }));
  const write = await call("UpdateUserMemory", factOf("x", "mine"));
  return [read, list, write, await call("UpdateUserMemory", { action: "delete", name: "x" })];
}

const codeOf = (answer: unknown): string => (answer as { readonly error: { readonly code: string } }).error.code;

const unsafe = "STORAGE_UNSAFE";
const closed: Outcomes = [unsafe, unsafe, unsafe, unsafe];
const open: Outcomes = ["ok", "ok", "ok", "ok"];

interface Place {
  readonly path: string;
  readonly traps: readonly Trap[];
  readonly outcomes: Outcomes;
  /** Other outcomes for a file of any size: nothing reads a lock's content, and a journal with only zeros is empty. */
  readonly large?: Outcomes;
}

/** Traps in place of the host's own leftovers: it removes all but folders. A test below covers the missing trap. */
const ownTraps = fileTraps.filter(({ name }) => name !== "a second name of another user's file");
/** In the place of a journal, a file is the log of an earlier format: `journal-states.test.ts`. */
const noFolders = folderTraps.filter(({ name }) => name !== "a file");
/** The path of a socket is 107 bytes at most. */
const noSocket = fileTraps.filter(({ name }) => name !== "a socket");
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
    { path: ".memcell/journal", traps: noFolders, outcomes: closed },
    { path: ".memcell/journal/000000000001.log", traps: fileTraps, outcomes: closed, large: open },
    { path: ".memcell/journal-head", traps: fileTraps, outcomes: closed, large: open },
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
    { path: ".memcell/journal", traps: noFolders, outcomes: closed },
    { path: ".memcell/journal/000000000001.log", traps: noSocket, outcomes: closed, large: open },
    { path: ".memcell/journal-head", traps: fileTraps, outcomes: [unsafe, "ok", unsafe, unsafe], large: open },
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

test("a folder without an owner record belongs to its name's user, and gets the record with its next change", async () => {
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

describe("what may not be opened", () => {
  const failed = "STORAGE_FAILED";
  const allFailed: Outcomes = [failed, failed, failed, failed];
  /** A forbidden file is like one that is no plain file. */
  const forbidden: Readonly<Record<string, Outcomes>> = {
    "": allFailed,
    memory: allFailed,
    // A replacement that is not larger does not read the trash.
    "memory/trash": ["ok", "ok", "ok", failed],
    "memory/x.md": [unsafe, "ok", unsafe, unsafe],
    "memory/MEMORY.md": ["ok", unsafe, unsafe, unsafe],
    ".memcell": allFailed,
    ".memcell/owner": closed,
    ".memcell/lock": closed,
    ".memcell/turnstile": closed,
    ".memcell/journal": allFailed,
    ".memcell/journal/000000000001.log": closed,
  };
  /** Root may open everything, so the tests run as the user nobody. */
  const nobody = 65_534;
  const isRoot = process.getuid?.() === 0;
  const own = temporaryFolder();
  const data = join(own.path, "data");
  let opened: Runtime;
  beforeAll(async () => {
    await makeFolders(own.path, ["carol", ...Object.keys(forbidden).map((_, at) => `row-${at}`)]);
    if (isRoot) {
      await runCommand("chown", ["-R", `${nobody}:${nobody}`, own.path]);
      process.seteuid?.(nobody);
    }
    opened = await openFolders(data);
  });
  afterAll(async () => {
    if (isRoot) process.seteuid?.(0);
    await opened.close();
    own[Symbol.dispose]();
  });

  test.for(Object.entries(forbidden).map(([place, outcomes], at) => [place, outcomes, `row-${at}`] as const))(
    'a place "%s" is a coded error without the system\'s words, and other calls succeed',
    async ([place, outcomes, userId], context) => {
      if (process.platform === "win32") skipWithReason(context, "Windows has no such modes");
      const path = join(homeFolder(data, "user", userId), place);
      chmodSync(path, 0);
      try {
        expect(await useFolder(opened, "user", userId, own.path)).toEqual(outcomes);
        expect(await opened.call("ReadUserMemory", { name: "x" }, { userId: "carol" })).toMatchObject({ ok: true });
      } finally {
        chmodSync(path, 0o700);
      }
      expect((await useFolder(opened, "user", userId, own.path)).slice(0, 3)).toEqual(["ok", "ok", "ok"]);
    },
  );
});
