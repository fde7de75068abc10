/** Unexpected things in a user's folder: links, pipes, devices, folders, huge files, other users' owner records. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const fact = "---\nname: x\ndescription: d\ntype: user\n---\nsecret of bob";
const upsert = { action: "upsert", name: "x", type: "user", description: "d", body: "mine" };

interface Trap {
  readonly name: string;
  /** Receives the memory folders of Alice and Bob. */
  readonly lay: (alice: string, bob: string) => void;
}

const traps: Trap[] = [
  {
    name: "a symbolic link to another user's file",
    lay: (alice, bob) => symlinkSync(join(bob, "x.md"), join(alice, "x.md")),
  },
  { name: "a symbolic link to nothing", lay: (alice) => symlinkSync("nowhere.md", join(alice, "x.md")) },
  { name: "a hard link to another user's file", lay: (alice, bob) => linkSync(join(bob, "x.md"), join(alice, "x.md")) },
  { name: "a named pipe", lay: (alice) => execFileSync("mkfifo", [join(alice, "x.md")]) },
  { name: "a device", lay: (alice) => symlinkSync("/dev/zero", join(alice, "x.md")) },
  { name: "a folder", lay: (alice) => mkdirSync(join(alice, "x.md")) },
  {
    name: "a huge sparse file",
    lay: (alice) => {
      writeFileSync(join(alice, "x.md"), "");
      truncateSync(join(alice, "x.md"), 2 ** 33);
    },
  },
];

test.for(traps)("$name in an entry's place is STORAGE_UNSAFE to read, replace and delete", async ({ lay }) => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": fact }, bob: { "memory/x.md": fact } });
  lay(join(userFolder(folder.path, "alice"), "memory"), join(userFolder(folder.path, "bob"), "memory"));
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  for (const [tool, input] of [
    ["ReadUserMemory", { name: "x" }],
    ["UpdateUserMemory", upsert],
    ["UpdateUserMemory", { action: "delete", name: "x" }],
  ] as const) {
    const result = await runtime.call(tool, input, { userId: "alice" });
    expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE", blame: "host" } });
    expect(JSON.stringify(result)).not.toContain("secret of bob");
    expect(JSON.stringify(result)).not.toContain(folder.path);
  }
  expect(readUserFiles(folder.path, "bob")).toEqual({ "memory/x.md": fact });
  expect(await runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice" })).toMatchObject({ ok: true });
});

test.for([
  { name: "the user's folder", link: (dataDir: string) => join(dataDir, "users", "alice"), target: "bob" },
  {
    name: "the memory folder",
    link: (dataDir: string) => join(dataDir, "users", "alice", "memory"),
    target: "../bob/memory",
  },
  { name: "the folder of all users", link: (dataDir: string) => join(dataDir, "users"), target: "elsewhere" },
])("a symbolic link in place of $name is STORAGE_UNSAFE", async ({ link, target }) => {
  using folder = temporaryFolder();
  writeUserFiles(join(folder.path, "real"), { bob: { "memory/x.md": fact } });
  const dataDir = join(folder.path, "data");
  if (target === "elsewhere") {
    mkdirSync(dataDir, { recursive: true });
    symlinkSync(join(folder.path, "real", "users"), link(dataDir));
  } else {
    writeUserFiles(dataDir, { bob: { "memory/x.md": fact } });
    mkdirSync(join(link(dataDir), ".."), { recursive: true });
    symlinkSync(target, link(dataDir));
  }
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  const user = { userId: target === "elsewhere" ? "bob" : "alice" };
  for (const [tool, input] of [
    ["ReadUserMemory", { name: "x" }],
    ["UpdateUserMemory", upsert],
  ] as const) {
    const result = await runtime.call(tool, input, user);
    expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
    expect(JSON.stringify(result)).not.toContain("secret of bob");
  }
});

test("a folder that records another owner is refused to the user whose name it has", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/x.md": fact, ".memcell/owner": "Alice" } });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  for (const [tool, input] of [
    ["ReadUserMemory", { name: "x" }],
    ["UpdateUserMemory", upsert],
  ] as const) {
    const result = await runtime.call(tool, input, { userId: "alice" });
    expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
    expect(JSON.stringify(result)).not.toContain("Alice");
  }
});

test("a file that is not UTF-8 is ENTRY_UNREADABLE, and upsert moves it to the trash byte for byte", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": fact } });
  const latin1 = Buffer.from("---\ndescription: caf\xe9\ntype: user\n---\n", "latin1");
  writeFileSync(join(userFolder(folder.path, "alice"), "memory", "x.md"), latin1);
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const read = await runtime.call("ReadUserMemory", { name: "x" }, { userId: "alice" });
  expect(read).toMatchObject({ ok: false, error: { code: "ENTRY_UNREADABLE" } });
  const written = await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  const { trashed } = (written as { data: { trashed: string } }).data;
  expect(trashed).toMatch(/^trash\/x\./);
  expect(readFileSync(join(userFolder(folder.path, "alice"), "memory", trashed))).toEqual(latin1);
});

test("an index that is not UTF-8 goes to the trash as it is, and the write goes on", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": fact } });
  writeFileSync(join(userFolder(folder.path, "alice"), "memory", "MEMORY.md"), Buffer.from([0xff, 0xfe]));
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const result = await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  expect(result).toMatchObject({ ok: true });
  const trash = join(userFolder(folder.path, "alice"), "memory", "trash");
  const trashed = readdirSync(trash).map((name) => readFileSync(join(trash, name)));
  expect(trashed).toEqual([Buffer.from([0xff, 0xfe])]);
  expect(readUserFiles(folder.path, "alice")["memory/MEMORY.md"]).toContain("- [a](a.md) \u2014 ");
});

test("folders and files are created with access for the owner only", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: join(folder.path, "data"), threadsMax: 1 });
  await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "x" }, { userId: "alice" });
  const modes = execFileSync("find", [join(folder.path, "data"), "-printf", "%y %m\n"], { encoding: "utf8" });
  expect(new Set(modes.trim().split("\n"))).toEqual(new Set(["d 700", "f 600"]));
});
