/**
 * A data folder that was copied with hard links, as by `cp -al` or `rsync --link-dest`. A write to a file with two names
 * would change both copies, so every call is refused until the doctor has made each file one of its own.
 */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { CallContext, Runtime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { alice, bob, inShort, openUpkeep, remove, upsert } from "./upkeep-stage.ts";

const bodyOf = async (runtime: Runtime, ctx: CallContext, name: string): Promise<unknown> => {
  const result = await runtime.call("ReadUserMemory", { name }, ctx);
  return result.ok ? (result.data as { body: string }).body : result.error.code;
};

/** Alice uses every family and shares her store with Bob; both have a memory, and some of it is in the trash. */
async function fill(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  const done = async (tool: string, input: object, ctx: CallContext = alice): Promise<void> =>
    expect(await runtime.call(tool, input, ctx)).toMatchObject({ ok: true });
  await done("UpdateUserMemory", upsert("a", "of bob"), bob);
  await done("UpdateUserMemory", upsert("a", "one"));
  await done("UpdateUserMemory", upsert("gone", "gone"));
  await done("UpdateUserMemory", remove("gone"));
  await done("memory_write", { key: "today", content: "a day" });
  await done("memory", { command: "create", path: "/memories/note", content: "shared" });
  await runtime.stores(alice).grant("bob", { level: "read" });
}

const open = (dataDir: string): Promise<Runtime> => createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
const shared = { command: "view", path: `/memories/shared/${storeIdOf("alice")}/note` };

test("after `cp -al` calls are refused, and the doctor makes both copies whole", async () => {
  using folder = temporaryFolder();
  const [data, copy] = [join(folder.path, "data"), join(folder.path, "copy")];
  await fill(data);
  execFileSync("cp", ["-al", data, copy]);
  await using runtime = await open(data);
  await using ofCopy = await open(copy);
  for (const each of [runtime, ofCopy]) expect(await bodyOf(each, alice, "a")).toBe("STORAGE_UNSAFE");
  for (const ctx of [alice, bob]) {
    const found = await runtime.upkeep.inspect(ctx);
    expect(found.filter(({ remedy }) => remedy === null)).toEqual([]);
    expect(found).not.toEqual([]);
    expect(await runtime.upkeep.mend(ctx)).toEqual(found);
    expect(await runtime.upkeep.inspect(ctx)).toEqual([]);
  }
  expect(linkedBelow(data)).toEqual([]);
  expect(linkedBelow(copy)).toEqual([]);
  for (const each of [runtime, ofCopy]) {
    expect(await bodyOf(each, alice, "a")).toBe("one");
    expect(await bodyOf(each, bob, "a")).toBe("of bob");
    expect(await each.call("memory", shared, bob)).toMatchObject({ ok: true });
    expect(await each.upkeep.inspect(alice)).toEqual([]);
    expect(await each.upkeep.listTrash(alice)).toMatchObject([{ path: "gone.md" }]);
  }
  await runtime.call("UpdateUserMemory", upsert("a", "two"), alice);
  expect([await bodyOf(runtime, alice, "a"), await bodyOf(ofCopy, alice, "a")]).toEqual(["two", "one"]);
});

test.for([
  "memory/a.md",
  "memory/MEMORY.md",
  ".memcell/journal",
  ".memcell/owner",
  ".memcell/lock",
  ".memcell/turnstile",
])("a second name of %s is named, and taken from it", async (path) => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await fill(data);
  const other = join(folder.path, "other");
  linkSync(join(userFolder(data, "alice"), path), other);
  const before = readUserFiles(data, "alice");
  await using runtime = await open(data);
  const found = await runtime.upkeep.inspect(alice);
  expect(found.map(inShort)).toContain(`${path} several-names`);
  expect(await runtime.upkeep.mend(alice)).toEqual(found);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(statSync(other).nlink).toBe(1);
  expect(readUserFiles(data, "alice")).toEqual(before);
  expect(await bodyOf(runtime, alice, "a")).toBe("one");
});

test("files are mended under a lock, also where the lock file has gone", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await fill(data);
  const home = userFolder(data, "alice");
  for (const name of ["lock", "turnstile"]) rmSync(join(home, ".memcell", name));
  linkSync(join(home, "memory/a.md"), join(folder.path, "other"));
  await using runtime = await open(data);
  await runtime.upkeep.mend(alice);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(readdirSync(join(home, ".memcell"))).toContain("lock");
  expect(await bodyOf(runtime, alice, "a")).toBe("one");
});

test("another user's owner record stays another's when it is a file of its own", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await fill(data);
  const [ofAlice = "", ofBob = ""] = ["alice", "bob"].map((id) => join(userFolder(data, id), ".memcell/owner"));
  rmSync(ofAlice);
  linkSync(ofBob, ofAlice);
  await using runtime = await open(data);
  await runtime.upkeep.mend(alice).catch(() => {});
  expect(statSync(ofAlice).nlink).toBe(1);
  expect(await bodyOf(runtime, alice, "a")).toBe("STORAGE_UNSAFE");
  expect(await bodyOf(runtime, bob, "a")).toBe("of bob");
});

test("in a mounted folder a file keeps its names, which other programs can mean", async () => {
  using folder = temporaryFolder();
  const [dir, other] = [join(folder.path, "mine"), join(folder.path, "other")];
  mkdirSync(dir);
  await using at = await openUpkeep("files", { mounts: [{ ...alice, scope: "memory", dir }] });
  await at.write({ ctx: alice, input: upsert("a", "one") });
  linkSync(join(dir, "a.md"), other);
  expect((await at.upkeep.inspect(alice)).map(inShort)).toContain("memory/a.md not-a-plain-file");
  await at.upkeep.mend(alice);
  expect(statSync(other).nlink).toBe(2);
});

/** The files below a folder that have several names, without the empty ones: they are never opened. */
function linkedBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => {
    const facts = statSync(join(folder, path));
    return facts.isFile() && facts.nlink > 1 && facts.size > 0;
  });
}

test("a file with several names that is too large to be copied keeps no other from being mended", async () => {
  using folder = temporaryFolder();
  await fill(folder.path);
  const memory = join(userFolder(folder.path, "alice"), "memory");
  writeFileSync(join(memory, "giant.md"), "");
  truncateSync(join(memory, "giant.md"), 5_000_000_000);
  for (const name of ["giant.md", "a.md"]) linkSync(join(memory, name), join(folder.path, name));
  await using runtime = await open(folder.path);
  const mended = await runtime.upkeep.mend(alice);
  expect(mended).toContainEqual(expect.objectContaining({ problem: "several-names", path: "memory/a.md" }));
  expect(await bodyOf(runtime, alice, "a")).toBe("one");
  expect(await runtime.upkeep.inspect(alice)).toEqual([
    expect.objectContaining({ problem: "not-a-plain-file", path: "memory/giant.md", remedy: null }),
  ]);
});
