/** `upkeep.erase`: nothing of the user is left, nothing of anybody else is touched, and it is on record. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fillUp } from "../crash/small-disk-store.ts";
import { readRecords } from "../stage/runtime.ts";
import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { fillAll, mark, openAll, ownStore, shownBy } from "./four-families.ts";
import { alice, bob } from "./upkeep-stage.ts";

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
  // The write-ahead log of Bob's store keeps a change of grants until it is retired.
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
