/**
 * `upkeep.erase`: nothing of the user is left, nothing of anybody else is touched, and it is on record. With an export, nothing
 * is removed if the zip file cannot be written, or would leave something out. What an interrupted or hindered one leaves is named,
 * and removed later.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  renameSync,
  truncateSync,
  watch as watchFolder,
  writeFileSync,
} from "node:fs";
import { watch } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { fillUp } from "../crash/small-disk-store.ts";
import { readZip } from "../stage/archive.ts";
import { readRecords } from "../stage/runtime.ts";
import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { fillAll, mark, openAll, ownStore, shownBy } from "./four-families.ts";
import { alice, bob, engines, openUpkeep } from "./upkeep-stage.ts";

/** Every name and every byte below a folder. */
function everythingIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .map((each) => `${each.name}\n${each.isFile() ? readFileSync(join(each.parentPath, each.name), "latin1") : ""}`)
    .join("\n");
}

test("nothing is left on the disk of a user with entries of all families, and others keep everything", async () => {
  using folder = temporaryFolder();
  const [dataDir, log] = [join(folder.path, "data"), join(folder.path, "log/audit.jsonl")];
  await using runtime = await openAll(dataDir, { auditLog: { file: log } });
  await fillAll(runtime, "alice");
  await fillAll(runtime, "bob");
  const shown = await shownBy(runtime, "bob");
  await runtime.stores(alice).grant("bob");
  await runtime.stores(bob).grant("alice", { level: "readwrite" });
  await runtime.stores(bob).grant("carol");
  const told: string[] = [];
  runtime.onChange(({ userId, files }) => told.push(...files.map(({ scope, path }) => `${userId} ${scope} ${path}`)));

  const before = treeFingerprint(dataDir);
  const plan = await runtime.upkeep.planErase(alice);
  expect(plan.contents.map(({ scope }) => scope)).toEqual(["journal", "memory", "runs", "store", null]);
  expect(plan).toMatchObject({ grantees: [ownStore("bob")], granters: [ownStore("bob")], mounted: [], closed: [] });
  expect(plan.contents.find(({ scope }) => scope === "memory")).toMatchObject({ files: 3 });
  const afterPlan = treeFingerprint(dataDir);
  expect(await runtime.upkeep.planErase(alice)).toEqual(plan);
  expect(treeFingerprint(dataDir)).toEqual(afterPlan);
  expect(Object.keys(afterPlan)).toEqual(Object.keys(before));
  const cancelled = runtime.upkeep.erase({ ...alice, signal: AbortSignal.abort() });
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  expect(treeFingerprint(dataDir)).toEqual(afterPlan);

  expect(await runtime.upkeep.erase(alice)).toEqual({ ...plan, left: [] });
  expect(readdirSync(join(dataDir, "users"))).toEqual(["bob"]);
  expect(readdirSync(join(dataDir, "stores")).toSorted()).toEqual([".granted", ownStore("bob")].toSorted());
  // Of Bob's grants only the one to Carol is left.
  expect(readdirSync(join(dataDir, "stores/.granted"))).toEqual([ownStore("carol")]);
  expect(everythingIn(dataDir)).not.toContain("alice");
  // The journal of Bob's store keeps a change of grants until it is settled.
  await runtime.close();
  expect(everythingIn(join(dataDir, "stores", ownStore("bob"), "entries"))).not.toContain(ownStore("alice"));
  await using again = await openAll(dataDir);
  expect(await shownBy(again, "bob")).toEqual(shown);
  expect(await again.upkeep.users()).toEqual(["bob"]);
  expect((await again.stores(bob).grants()).map(({ grantee }) => grantee)).toEqual([ownStore("carol")]);
  expect(await again.stores(bob).list()).toHaveLength(1);
  expect(told).toEqual(
    expect.arrayContaining(["alice memory kept.md", `alice store:${ownStore("alice")} notes/kept.md`]),
  );

  const sums = plan.contents.map(({ scope, files, bytes }) => ({
    scope: scope === "store" ? `store:${ownStore("alice")}` : scope,
    files,
    bytes,
  }));
  const [mine, bobs] = [ownStore("alice"), ownStore("bob")];
  const granted = [
    { store: mine, grantee: bobs, level: null, expiresMs: null },
    { store: bobs, grantee: mine, level: null, expiresMs: null },
  ];
  const records = readRecords(log);
  const staged = records.findLast(({ kind }) => kind === "staged");
  expect(staged).toMatchObject({ userId: "alice", erased: sums, granted, writes: [], trashed: [], removed: [] });
  const ofErase = records.findLast(({ kind }) => kind === "upkeep");
  expect(ofErase).toMatchObject({ action: "erase", userId: "alice", erased: sums, code: null });
  expect(readFileSync(log, "utf8")).not.toContain(mark);
});

test("of a user of whom nothing is stored, it says so, makes nothing and is on record", async () => {
  using folder = temporaryFolder();
  const [dataDir, log] = [join(folder.path, "data"), join(folder.path, "log.jsonl")];
  await using runtime = await openAll(dataDir, { auditLog: { file: log } });
  await fillAll(runtime, "bob");
  const unknown = { code: "ENTRY_NOT_FOUND", message: expect.stringMatching(/: nothing is stored of this user$/) };
  await expect(runtime.upkeep.erase(alice)).rejects.toMatchObject(unknown);
  await expect(runtime.upkeep.planErase(alice)).rejects.toMatchObject(unknown);
  const codes = readRecords(log).flatMap((record) => (record.kind === "upkeep" ? [record.code] : []));
  expect(codes).toEqual(["ENTRY_NOT_FOUND", "ENTRY_NOT_FOUND"]);
  expect(userFolderNames(dataDir)).toEqual(["bob"]);
  for (const [userId, code] of [
    [undefined, "USER_REQUIRED"],
    ["../bob", "USER_INVALID"],
    ["", "USER_INVALID"],
  ] as const) {
    await expect(runtime.upkeep.erase({ userId: userId as string })).rejects.toMatchObject({ code });
  }
  for (const file of ["", 1]) expect(() => runtime.upkeep.erase(bob, { export: file as string })).toThrow(TypeError);
});

test("users with only a store, only a folder, or only a grant are erased too", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path);
  await runtime.callAsHost("memory", { command: "create", path: "/memories/a.md", content: "x" }, { userId: "stored" });
  await runtime.call("memory_write", { key: "k", content: "x" }, { userId: "journaled" });
  mkdirSync(userFolder(folder.path, "empty"), { recursive: true });
  writeUserFiles(folder.path, { "by hand": { "notes/a.md": "x" } });
  for (const userId of ["granted", "left"]) await runtime.stores({ userId: "stored" }).grant(userId);
  await runtime.stores({ userId: "left" }).leave(ownStore("stored"));
  for (const userId of ["granted", "left", "stored", "journaled", "empty", "by hand"]) {
    expect(await runtime.upkeep.erase({ userId })).toMatchObject({ left: [] });
    await expect(runtime.upkeep.planErase({ userId })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  }
  const left = readdirSync(folder.path, { recursive: true, encoding: "utf8" });
  expect(new Set(left)).toEqual(new Set(["stores", "stores/.granted", "users"]));
});

test("if the audit log cannot be written, nothing is removed", async (context) => {
  const disk = await loopDisk("tmpfs", { bytes: 256 * 1024 });
  if (typeof disk === "string") skipWithReason(context, disk);
  using mounted = disk;
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path, { auditLog: { file: join(mounted.path, "audit.jsonl") } });
  expect(await runtime.call("memory_write", { key: "k", content: "x" }, alice)).toMatchObject({ ok: true });
  const filler = join(mounted.path, "filler");
  fillUp(filler);
  // The log's last page has room for some records: until not even the smallest fits.
  for (let at = 0; at < 40; at++) runtime.refused({ surface: "a", reason: "b" });
  const before = treeFingerprint(folder.path);
  await expect(runtime.upkeep.erase(alice)).rejects.toMatchObject({ code: "STORAGE_FULL" });
  expect(treeFingerprint(folder.path)).toEqual(before);
  rmSync(filler);
  expect(await runtime.upkeep.erase(alice)).toMatchObject({ left: [] });
});

/** A data folder with Alice's entries of all families, and a place for exports. */
async function exportStage() {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  {
    await using filling = await openAll(dataDir);
    await fillAll(filling, "alice");
  }
  // It has nothing left to put away while a test compares files.
  const runtime = await openAll(dataDir);
  return {
    dataDir,
    runtime,
    place: (name: string): string => join(folder.path, name),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

test("an export names what lies beside the scopes, and an erasure with an export then removes nothing", async () => {
  await using at = await exportStage();
  const home = userFolder(at.dataDir, "alice");
  const cases: readonly [make: () => void, leftOut: object][] = [
    [() => mkdirSync(join(home, "My Notes")), { scope: "My Notes", path: "", reason: "its name is not a scope's" }],
    [() => writeFileSync(join(home, "todo"), "x"), { scope: "todo", path: "", reason: "it is not a folder" }],
    [() => symlinkSync("/etc", join(home, "etc")), { scope: "etc", path: "", reason: "it is not a folder" }],
    [
      () => mkdirSync(join(home, "store")),
      { scope: "store", path: "", reason: "another folder stands for this scope" },
    ],
    [
      () => writeFileSync(join(at.dataDir, "stores", ownStore("alice"), "x.txt"), "x"),
      { scope: `stores/${ownStore("alice")}/x.txt`, path: "", reason: "its name is not a scope's" },
    ],
    [
      () => {
        writeFileSync(join(home, "memory/giant.md"), "");
        truncateSync(join(home, "memory/giant.md"), 2 ** 22);
      },
      { scope: "memory", path: "giant.md", reason: "it is 4194304 bytes, at most 2097152 allowed" },
    ],
  ];
  for (const [make, leftOut] of cases) {
    make();
    const exported = await at.runtime.upkeep.export(alice);
    expect(exported.leftOut).toEqual(expect.arrayContaining([leftOut]));
    const before = treeFingerprint(at.dataDir);
    await expect(at.runtime.upkeep.erase(alice, { export: at.place("a.zip") })).rejects.toMatchObject({
      code: "STORAGE_UNSAFE",
      message: expect.stringMatching(/^Cannot erase the user: the export leaves out ".*": it/),
    });
    expect(treeFingerprint(at.dataDir)).toEqual(before);
    expect(existsSync(at.place("a.zip"))).toBe(false);
  }
  expect(await at.runtime.upkeep.erase(alice)).toMatchObject({ left: [] });
});

test("an erasure whose export lacks a file that somebody edits meanwhile removes nothing, and leaves no zip file", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  const names = Array.from({ length: 32 }, (_, each) => `memory/trash/x${each + 10}.md`);
  at.put(Object.fromEntries(names.map((name) => [name, ""])));
  for (const name of names) truncateSync(join(at.home(), name), 2 ** 21);
  const out = at.place("out");
  mkdirSync(out);
  // Once the zip file has been begun, all files have been listed.
  const watcher = watchFolder(out).once("change", () => at.put({ "memory/trash/x41.md": "by hand" }));
  await expect(at.upkeep.erase(alice, { export: join(out, "a.zip") })).rejects.toMatchObject({
    code: "STORAGE_UNSAFE",
    message:
      'Cannot erase the user: the export leaves out "memory/trash/x41.md": it was edited during the export; and 0 files more',
  });
  watcher.close();
  expect(readdirSync(out)).toEqual([]);
  expect(Object.keys(at.files())).toEqual(names);
});

test("if the export cannot be written, or would lie in the user's folder, nothing is removed", async () => {
  await using at = await exportStage();
  writeFileSync(at.place("taken.zip"), "mine");
  symlinkSync(join(userFolder(at.dataDir, "alice"), "memory"), at.place("shortcut"));
  const before = treeFingerprint(at.dataDir);
  for (const [file, code] of [
    [at.place("taken.zip"), "NAME_CONFLICT"],
    [at.place("nowhere/a.zip"), "STORAGE_FAILED"],
    [join(at.dataDir, "users/alice/a.zip"), "INPUT_INVALID"],
    [join(at.dataDir, "stores/a.zip"), "INPUT_INVALID"],
    [`${at.place("shortcut")}/a.zip`, "INPUT_INVALID"],
  ] as const) {
    await expect(at.runtime.upkeep.erase(alice, { export: file })).rejects.toMatchObject({ code });
    expect(treeFingerprint(at.dataDir)).toEqual(before);
  }
  expect(readFileSync(at.place("taken.zip"), "utf8")).toBe("mine");
  // The system would follow the link, and then go up from its target.
  await at.runtime.upkeep.erase(alice, { export: `${at.place("shortcut")}/../backup.zip` });
  expect((await readZip(readFileSync(at.place("backup.zip")))).length).toBeGreaterThan(3);
});

test("what is left of an erased user is removed at the next start, with grants of others from before", async () => {
  using folder = temporaryFolder();
  let now = 1_700_000_000_000;
  const clock = (): number => now;
  const name = `.erased.${ownStore("alice")}.${now + 10}.0badcafe`;
  const left = join(folder.path, "users", name);
  const kept = `.erased.${ownStore("alice")}.soon`;
  {
    await using runtime = await openAll(folder.path, { clock });
    await fillAll(runtime, "alice");
    await runtime.stores(bob).grant("alice");
    now += 20;
    await runtime.stores({ userId: "carol" }).grant("alice");
  }
  renameSync(userFolder(folder.path, "alice"), left);
  mkdirSync(join(folder.path, "users", kept));
  await using runtime = await openAll(folder.path, { clock, retiresLeftOver: false });
  expect(await runtime.upkeep.strays()).toMatchObject([{ problem: "erase-unfinished", path: `users/${name}` }]);
  expect(existsSync(left)).toBe(true);
  const removed = untilGone(left);
  await using next = await openAll(folder.path, { clock });
  await removed;
  expect(await next.stores(bob).grants()).toEqual([]);
  expect(await next.stores({ userId: "carol" }).grants()).toHaveLength(1);
  // The own store is not that of the erased folder: it has no mark.
  expect(await next.callAsHost("memory", { command: "view", path: "/memories/notes/kept.md" }, alice)).toMatchObject({
    ok: true,
  });
  // Names that are like it only at first sight are other programs'.
  expect(existsSync(join(folder.path, "users", kept))).toBe(true);
  expect(await next.upkeep.strays()).toEqual([]);
});

test.for(engines)(
  "the grants to an erased user end, also if the clock was set back since they were given: %s",
  async (engine) => {
    let now = 1_700_000_000_000;
    await using at = await openUpkeep(engine, { plugins: ["stores"], clock: () => now });
    await at.runtime.stores(alice).grant("bob", { level: "read" });
    await at.runtime.callAsHost("memory", { command: "create", path: "/memories/a.md", content: "x" }, bob);
    now -= 2_000;
    expect(await at.upkeep.erase(bob)).toMatchObject({ granters: [ownStore("alice")], left: [] });
    now += 10_000;
    expect(await at.runtime.stores(alice).grants()).toEqual([]);
    expect(await at.runtime.stores(bob).list()).toMatchObject([{ source: "self" }]);
  },
);

/** Its folder must not go before. */
async function untilGone(path: string): Promise<void> {
  for await (const _event of watch(dirname(path))) if (!existsSync(path)) return;
}

test("the doctor's repair, and another erasure of the user, remove it too", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path, { retiresLeftOver: false });
  const plant = (): void => {
    const left = join(folder.path, "users", `.erased.${ownStore("alice")}.${Date.now()}.0badcafe`);
    mkdirSync(join(left, "memory"), { recursive: true });
    writeFileSync(join(left, "memory/a.md"), "x");
  };
  await fillAll(runtime, "bob");
  plant();
  expect(await runtime.upkeep.mendStrays()).toMatchObject([{ problem: "erase-unfinished" }]);
  expect(await runtime.upkeep.strays()).toEqual([]);
  plant();
  expect(await runtime.upkeep.planErase(alice)).toMatchObject({ contents: [] });
  expect(await runtime.upkeep.erase(alice)).toMatchObject({ contents: [], left: [] });
  expect(await runtime.upkeep.strays()).toEqual([]);
  await expect(runtime.upkeep.erase(alice)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
});

test("the grants of a store that cannot be read do not stop it, and are named", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path);
  await fillAll(runtime, "alice");
  await runtime.stores(bob).grant("alice");
  const grants = join(folder.path, "stores", ownStore("bob"), ".memcell/grants.json");
  const text = readFileSync(grants, "utf8");
  writeFileSync(grants, "damaged");
  const { left } = await runtime.upkeep.erase(alice);
  expect(left).toMatchObject([{ path: `stores/${ownStore("bob")}` }]);
  expect(await runtime.upkeep.planErase(alice)).toMatchObject({ contents: [] });
  writeFileSync(grants, text);
  expect(await runtime.upkeep.erase(alice)).toMatchObject({ left: [], granters: [ownStore("bob")] });
  expect(await runtime.stores(bob).grants()).toEqual([]);
});

test("what the user had left out is forgotten, also if the grants of another store cannot be read", async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const carol = { userId: "carol" };
  {
    await using runtime = await openAll(dataDir);
    for (const granter of [alice, carol]) await runtime.stores(granter).grant("bob");
    expect(await runtime.stores(bob).leave(ownStore("carol"))).toBe(true);
  }
  const unread = ownStore("alice");
  writeFileSync(join(dataDir, "stores", unread, ".memcell/grants.json"), "{damaged");
  await using runtime = await openAll(dataDir);
  expect(await runtime.upkeep.erase(bob)).toMatchObject({ left: [{ path: `stores/${unread}` }] });
  expect(readdirSync(join(dataDir, "stores/.granted"))).not.toContain(ownStore("bob"));
  await runtime.stores(carol).grant("bob");
  const reached = await runtime.stores(bob).list();
  expect(reached.map(({ id }) => id)).toContain(ownStore("carol"));
});
