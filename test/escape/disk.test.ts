/** Unexpected things in a user's folder: links, pipes, devices, folders, huge files, other users' owner records. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const fact = "---\nname: x\ndescription: d\ntype: user\n---\nsecret of bob";
const upsert = { action: "upsert", name: "x", type: "user", description: "d", body: "mine" };

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  writeUserFiles(folder.path, { bob: { "memory/x.md": fact } });
  runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

let users = 0;
/** A user with an entry `a`. Returns the id, and the folder of memory. */
function newUser(files: Readonly<Record<string, string>> = {}): readonly [userId: string, memory: string] {
  const userId = `user-${(users += 1)}`;
  writeUserFiles(folder.path, { [userId]: { "memory/a.md": fact, ...files } });
  return [userId, join(userFolder(folder.path, userId), "memory")];
}

/** Reads, replaces and deletes the entry `x`. */
const uses = (on: Runtime, userId: string): Promise<ToolResult>[] =>
  (
    [
      ["ReadUserMemory", { name: "x" }],
      ["UpdateUserMemory", upsert],
      ["UpdateUserMemory", { action: "delete", name: "x" }],
    ] as const
  ).map(([tool, input]) => on.call(tool, input, { userId }));

async function expectUnsafe(on: Runtime, userId: string): Promise<void> {
  for (const result of await Promise.all(uses(on, userId))) {
    expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE", blame: "host" } });
    expect(JSON.stringify(result)).not.toMatch(/secret of bob|Alice/);
    expect(JSON.stringify(result)).not.toContain(folder.path);
  }
}

test.for<readonly [name: string, lay: (place: string, bobs: string) => void]>([
  ["a symbolic link to another user's file", (place, bobs) => symlinkSync(bobs, place)],
  ["a symbolic link to nothing", (place) => symlinkSync("nowhere.md", place)],
  ["a hard link to another user's file", (place, bobs) => linkSync(bobs, place)],
  ["a named pipe", (place) => execFileSync("mkfifo", [place])],
  ["a device", (place) => symlinkSync("/dev/zero", place)],
  ["a folder", (place) => mkdirSync(place)],
  ["a huge sparse file", (place) => (writeFileSync(place, ""), truncateSync(place, 2 ** 33))],
])("%s in an entry's place is STORAGE_UNSAFE to read, replace and delete", async ([, lay]) => {
  const [userId, memory] = newUser();
  lay(join(memory, "x.md"), join(userFolder(folder.path, "bob"), "memory/x.md"));
  await expectUnsafe(runtime, userId);
  expect(readUserFiles(folder.path, "bob")).toEqual({ "memory/x.md": fact });
  expect(await runtime.call("ReadUserMemory", { name: "a" }, { userId })).toMatchObject({ ok: true });
});

test("a folder that records another owner is refused to the user whose name it has", async () => {
  const [userId] = newUser({ "memory/x.md": fact, ".memcell/owner": "Alice" });
  await expectUnsafe(runtime, userId);
});

test.for<readonly [name: string, user: string, place: string, target: string]>([
  ["the user's folder", "linked", "users/linked", "bob"],
  ["the memory folder", "half", "users/half/memory", "../bob/memory"],
])("a symbolic link in place of %s is STORAGE_UNSAFE", async ([, userId, place, target]) => {
  mkdirSync(join(folder.path, place, ".."), { recursive: true });
  symlinkSync(target, join(folder.path, place));
  await expectUnsafe(runtime, userId);
  expect(readUserFiles(folder.path, "bob")).toEqual({ "memory/x.md": fact });
});

test("a symbolic link in place of the folder of all users is STORAGE_UNSAFE", async () => {
  const dataDir = join(folder.path, "data");
  mkdirSync(dataDir);
  symlinkSync(join(folder.path, "users"), join(dataDir, "users"));
  await using own = await createRuntime({ dataDir, threadsMax: 1 });
  await expectUnsafe(own, "bob");
});

test("a file that is not UTF-8 is ENTRY_UNREADABLE, and upsert moves it to the trash byte for byte", async () => {
  const [userId, memory] = newUser();
  const latin1 = Buffer.from("---\ndescription: caf\xe9\ntype: user\n---\n", "latin1");
  writeFileSync(join(memory, "x.md"), latin1);
  const read = await runtime.call("ReadUserMemory", { name: "x" }, { userId });
  expect(read).toMatchObject({ ok: false, error: { code: "ENTRY_UNREADABLE" } });
  const written = await runtime.call("UpdateUserMemory", upsert, { userId });
  const { trashed } = (written as unknown as { data: { trashed: string } }).data;
  expect(trashed).toMatch(/^trash\/x\./);
  expect(readFileSync(join(memory, trashed))).toEqual(latin1);
});

test("an index that is not UTF-8 goes to the trash as it is, and the write goes on", async () => {
  const [userId, memory] = newUser();
  writeFileSync(join(memory, "MEMORY.md"), Buffer.from([0xff, 0xfe]));
  expect(await runtime.call("UpdateUserMemory", upsert, { userId })).toMatchObject({ ok: true });
  const trash = join(memory, "trash");
  expect(readdirSync(trash).map((name) => readFileSync(join(trash, name)))).toEqual([Buffer.from([0xff, 0xfe])]);
  expect(readUserFiles(folder.path, userId)["memory/MEMORY.md"]).toContain("- [a](a.md) \u2014 ");
});

test("folders and files are created with access for the owner only", async () => {
  await runtime.call("UpdateUserMemory", upsert, { userId: "carol" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "x" }, { userId: "carol" });
  const home = userFolder(folder.path, "carol");
  const modes = execFileSync("find", [home, "-printf", "%y %m\n"], { encoding: "utf8" });
  expect(new Set(modes.trim().split("\n"))).toEqual(new Set(["d 700", "f 600"]));
});
