/**
 * A data folder that was copied with hard links, as by `cp -al` or `rsync --link-dest`. A write to a file with two names
 * would change both copies, so every call is refused until the doctor has made each file one of its own.
 */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { alice, bob, inShort, openUpkeep, remove, upsert } from "./upkeep-stage.ts";

const bodyOf = async (runtime: Runtime, userId: string): Promise<unknown> => {
  const result = await runtime.call("ReadUserMemory", { name: "a" }, { userId });
  return result.ok ? (result.data as { body: string }).body : result.error.code;
};

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const data = join(folder.path, "data");
const open = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, durability: "relaxed" });
const homeOf = (userId: string): string => userFolder(data, userId);

/** Files of a user's home that get a second name, each of another user. */
const paths = [
  "memory/a.md",
  "memory/MEMORY.md",
  ...["journal/000000000001.log", "journal-head", "owner", "lock", "turnstile"].map((name) => `.memcell/${name}`),
];
const linked = paths.map((path, at) => ({ path, userId: `linked-${at}`, other: join(folder.path, `other-${at}`) }));

let runtime: Runtime;
beforeAll(async () => {
  {
    await using before = await open(data);
    for (const userId of ["bob", "unlocked", "odd", "giant", ...linked.map((each) => each.userId)]) {
      expect(await before.call("UpdateUserMemory", upsert("a", `of ${userId}`), { userId })).toMatchObject({
        ok: true,
      });
    }
    // Alice uses every family, shares her store with Bob, and has something in the trash.
    for (const [tool, input] of [
      ["UpdateUserMemory", upsert("a", "one")],
      ["UpdateUserMemory", upsert("gone", "gone")],
      ["UpdateUserMemory", remove("gone")],
      ["memory_write", { key: "today", content: "a day" }],
      ["memory", { command: "create", path: "/memories/note", content: "shared" }],
    ] as const) {
      expect(await before.call(tool, input, alice)).toMatchObject({ ok: true });
    }
    await before.stores(alice).grant("bob", { level: "read" });
  }
  runtime = await open(data);
});
afterAll(() => runtime.close());

test("after `cp -al` calls are refused, and the doctor makes both copies whole", async () => {
  const [whole, copy] = [join(folder.path, "whole"), join(folder.path, "copy")];
  execFileSync("cp", ["-a", data, whole]);
  execFileSync("cp", ["-al", whole, copy]);
  await using ofWhole = await open(whole);
  await using ofCopy = await open(copy);
  for (const each of [ofWhole, ofCopy]) expect(await bodyOf(each, "alice")).toBe("STORAGE_UNSAFE");
  for (const userId of await ofWhole.upkeep.users()) {
    const found = await ofWhole.upkeep.inspect({ userId });
    expect(found.filter(({ remedy }) => remedy === null)).toEqual([]);
    expect(found).not.toEqual([]);
    expect(await ofWhole.upkeep.mend({ userId })).toEqual(found);
    expect(await ofWhole.upkeep.inspect({ userId })).toEqual([]);
  }
  for (const each of [whole, copy]) expect(linkedBelow(each)).toEqual([]);
  const shared = { command: "view", path: `/memories/shared/${storeIdOf("alice")}/note` };
  for (const each of [ofWhole, ofCopy]) {
    expect([await bodyOf(each, "alice"), await bodyOf(each, "bob")]).toEqual(["one", "of bob"]);
    expect(await each.call("memory", shared, bob)).toMatchObject({ ok: true });
    expect(await each.upkeep.inspect(alice)).toEqual([]);
    expect(await each.upkeep.listTrash(alice)).toMatchObject([{ path: "gone.md" }]);
  }
  await ofWhole.call("UpdateUserMemory", upsert("a", "two"), alice);
  expect([await bodyOf(ofWhole, "alice"), await bodyOf(ofCopy, "alice")]).toEqual(["two", "one"]);
});

/** The files below a folder that have several names, without the empty ones: they are never opened. */
function linkedBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" }).filter((each) => {
    const facts = statSync(join(path, each));
    return facts.isFile() && facts.nlink > 1 && facts.size > 0;
  });
}

test.for(linked)("a second name of $path is named, and taken from it", async ({ path, userId, other }) => {
  linkSync(join(homeOf(userId), path), other);
  const before = readUserFiles(data, userId);
  const found = await runtime.upkeep.inspect({ userId });
  expect(found.map(inShort)).toContain(`${path} several-names`);
  expect(await runtime.upkeep.mend({ userId })).toEqual(found);
  expect(await runtime.upkeep.inspect({ userId })).toEqual([]);
  expect(statSync(other).nlink).toBe(1);
  expect(readUserFiles(data, userId)).toEqual(before);
  expect(await bodyOf(runtime, userId)).toBe(`of ${userId}`);
});

test("files are mended under a lock, also where the lock file has gone", async () => {
  const home = homeOf("unlocked");
  for (const name of ["lock", "turnstile"]) rmSync(join(home, ".memcell", name));
  linkSync(join(home, "memory/a.md"), join(folder.path, "unlocked"));
  await runtime.upkeep.mend({ userId: "unlocked" });
  expect(await runtime.upkeep.inspect({ userId: "unlocked" })).toEqual([]);
  expect(readdirSync(join(home, ".memcell"))).toContain("lock");
  expect(await bodyOf(runtime, "unlocked")).toBe("of unlocked");
});

test("another user's owner record stays another's when it is a file of its own", async () => {
  const [ofOdd, ofBob] = [join(homeOf("odd"), ".memcell/owner"), join(homeOf("bob"), ".memcell/owner")];
  rmSync(ofOdd);
  linkSync(ofBob, ofOdd);
  await runtime.upkeep.mend({ userId: "odd" }).catch(() => {});
  expect(statSync(ofOdd).nlink).toBe(1);
  expect(await bodyOf(runtime, "odd")).toBe("STORAGE_UNSAFE");
  expect(await bodyOf(runtime, "bob")).toBe("of bob");
});

test("a file with several names that is too large to be copied keeps no other from being mended", async () => {
  const memory = join(homeOf("giant"), "memory");
  writeFileSync(join(memory, "giant.md"), "");
  truncateSync(join(memory, "giant.md"), 5_000_000_000);
  for (const name of ["giant.md", "a.md"]) linkSync(join(memory, name), join(folder.path, name));
  const mended = await runtime.upkeep.mend({ userId: "giant" });
  expect(mended).toContainEqual(expect.objectContaining({ problem: "several-names", path: "memory/a.md" }));
  expect(await bodyOf(runtime, "giant")).toBe("of giant");
});

test("in a mounted folder a file keeps its names, which other programs can mean", async () => {
  const [dir, other] = [join(folder.path, "mine"), join(folder.path, "other")];
  mkdirSync(dir);
  await using at = await openUpkeep("files", { mounts: [{ ...alice, scope: "memory", dir }] });
  await at.write({ ctx: alice, input: upsert("a", "one") });
  linkSync(join(dir, "a.md"), other);
  expect((await at.upkeep.inspect(alice)).map(inShort)).toContain("memory/a.md not-a-plain-file");
  await at.upkeep.mend(alice);
  expect(statSync(other).nlink).toBe(2);
});
