/** A mounted folder is read and written in place. All other users stay in the data folder. */
import { execFileSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { diskOr } from "../crash/small-disk-store.ts";
import { lastSegment, segmentWith } from "../stage/journal.ts";
import { readRecords } from "../stage/runtime.ts";
import { digestOf } from "../stage/store.ts";
import { thisBoot } from "../stage/wal.ts";
import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { filesBelow, journalPuppet, list, mountedStage, play, read, write } from "./mounted-stage.ts";

/** A host whose process is only in the folder's group when it makes its call. */
const memberWrite = `
import { createRuntime } from "memcell";
const { steps, user, group, ...options } = JSON.parse(process.argv[1]);
const runtime = await createRuntime({ ...options, threadsMax: 1 });
process.setgroups([group]);
process.setgid(user);
process.setuid(user);
const result = await runtime.call("Puppet", steps, { userId: "alice" });
await runtime.close();
if (!result.ok) throw new Error(result.error.message);
`;

const modeOf = (file: string): number => statSync(file).mode & 0o7777;

test("the folder's files are the scope, and writes appear there under exactly their path", async () => {
  using stage = mountedStage();
  stage.put("2026/11/22.md", "### a\n");
  stage.put("Über.md", "encoded");
  stage.put("12:30.md", "no name that a tool can say");
  await using runtime = await stage.open();
  const seen = await play(runtime, [read("2026/11/22.md"), list(), write("MEMORY.md", "new")]);
  expect(seen).toMatchObject({
    ok: true,
    data: [{ content: "### a\n" }, { entries: [{ path: "%C3%9Cber.md" }, { path: "2026/11/22.md" }] }, { ok: true }],
  });
  expect(await play(runtime, [read("MEMORY.md")])).toMatchObject({ ok: true, data: [{ content: "new" }] });
  expect(stage.files()).toMatchObject({ "2026/11/22.md": "### a\n", "MEMORY.md": "new" });
  expect(existsSync(stage.dataDir)).toBe(false);
});

test("a guest reads the mounted folder, and nothing else of its user, whatever is held beside", async () => {
  using stage = mountedStage();
  {
    await using apart = await stage.open({ mounts: [] });
    await play(apart, [write("secret.md", "of the user")]);
  }
  stage.put("day.md", "of the workspace");
  await using runtime = await stage.open();
  const steps = [list(), read("day.md"), read("journal/secret.md")];
  for (const origin of [undefined, { class: "direct_user", run: "r" } as const]) {
    expect(await runtime.call("Puppet", steps, { userId: "alice", origin })).toMatchObject({
      data: [{ entries: [{ path: "day.md" }] }, { content: "of the workspace" }, { content: null }],
    });
  }
  expect(stage.files()).toEqual({ "day.md": "of the workspace" });
});

test("where the data folder cannot be written, a run writes to its mounted folder all the same", async (context) => {
  using stage = mountedStage();
  using disk = await diskOr(context, "ext4", { bytes: 8 * 2 ** 20 });
  const dataDir = join(disk.path, "data");
  {
    await using apart = await stage.open({ mounts: [], dataDir });
    await play(apart, [write("a.md", "of the user")]);
  }
  await disk.remountReadOnly();
  await using runtime = await stage.open({ dataDir });
  const ctx = { userId: "alice", origin: { class: "direct_user", run: "r" } } as const;
  expect(await runtime.call("Puppet", [write("day.md", "x")], ctx)).toMatchObject({ ok: true });
  expect(stage.files()).toEqual({ "day.md": "x" });
});

test("a missing folder reads as empty, and the first write creates it and its parents, for their owner only", async () => {
  using stage = mountedStage();
  await using runtime = await stage.open();
  expect(await play(runtime, [read("a.md"), list()])).toMatchObject({ data: [{ content: null }, { entries: [] }] });
  expect(existsSync(join(stage.path, "ws"))).toBe(false);
  expect(await play(runtime, [write("2026/a.md", "one")])).toMatchObject({ ok: true });
  for (const folder of ["ws", "ws/.agent", "ws/.agent/memory", "ws/.agent/memory/2026"]) {
    expect(modeOf(join(stage.path, folder))).toBe(0o700);
  }
  expect(modeOf(join(stage.dir, "2026/a.md"))).toBe(0o600);
});

test("a failed call and one that only reads leave nothing in the workspace", async () => {
  using stage = mountedStage();
  stage.put("a.md", "of alice");
  {
    await using runtime = await stage.open();
    expect(await play(runtime, [read("a.md"), list()])).toMatchObject({ ok: true });
    expect(await play(runtime, [write("a.md", "x"), { fail: "no" }])).toMatchObject({ ok: false });
  }
  expect(readdirSync(stage.dir)).toEqual(["a.md"]);
});

test.for([
  { name: "one that the host is in", group: 4712, mode: 0o664 },
  { name: "another", group: 4713, mode: 0o644 },
])(
  "a file of another user and group, $name: nobody gains access, and members keep theirs",
  async ({ group, mode }, context) => {
    if (process.getuid?.() !== 0) skipWithReason(context, "only root can become somebody else");
    using stage = mountedStage();
    stage.put("a.md", "old");
    chmodSync(stage.path, 0o711);
    chmodSync(stage.dir, 0o777);
    chmodSync(join(stage.dir, "a.md"), 0o664);
    chownSync(join(stage.dir, "a.md"), 4710, group);
    const { dataDir, mounts } = stage;
    const plugins = [journalPuppet(stage.path)];
    const steps = [write("a.md", "new")];
    const order = { dataDir, mounts, plugins, policy: policyFor(plugins), steps, user: 4711, group: 4712 };
    execFileSync(process.execPath, ["--input-type=module", "-e", memberWrite, JSON.stringify(order)]);
    const { uid, gid } = statSync(join(stage.dir, "a.md"));
    const expected = { uid: 4711, gid: group === 4712 ? group : 4711, mode };
    expect({ uid, gid, mode: modeOf(join(stage.dir, "a.md")) }).toEqual(expected);
  },
);

test("the host writes its own files to .memcell, hides it from git, and uses no name that agentool reads", async () => {
  using stage = mountedStage();
  stage.put("a.md", "old");
  await using runtime = await stage.open();
  expect(await play(runtime, [write("a.md", "new"), write("b.md", "b")])).toMatchObject({ ok: true });
  expect(readdirSync(stage.dir).toSorted()).toEqual([".memcell", "a.md", "b.md"]);
  const own = readdirSync(join(stage.dir, ".memcell")).toSorted();
  expect(own).toEqual([".gitignore", "journal", "journal-head", "lock", "owner", "turnstile"]);
  expect(readFileSync(join(stage.dir, ".memcell/.gitignore"), "utf8")).toBe("*\n");
  expect(own.filter((name) => /\.md$/i.test(name))).toEqual([]);
});

test("other users have their own folders in the data folder, whatever their ids look like", async () => {
  using stage = mountedStage();
  stage.put("a.md", "of alice");
  await using runtime = await stage.open();
  for (const userId of ["bob", "Alice", "ALICE", "alice.", "alic\u0435"]) {
    const seen = await play(runtime, [read("a.md"), list(), write("b.md", `of ${userId}`)], userId);
    expect(seen).toMatchObject({ ok: true, data: [{ content: null }, { entries: [] }, { ok: true }] });
    expect(readUserFiles(stage.dataDir, userId)).toEqual({ "journal/b.md": `of ${userId}` });
  }
  expect(stage.files()).toEqual({ "a.md": "of alice" });
  expect(userFolderNames(stage.dataDir)).toHaveLength(5);
});

test("a folder on another disk is served as any other", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 2 ** 21 });
  using stage = mountedStage();
  const mounts = [{ userId: "alice", scope: "journal", dir: join(disk.path, "memory") }];
  for (const text of ["one", "two"]) {
    await using runtime = await stage.open({ mounts });
    expect(await play(runtime, [write("a.md", text), write("2026/b.md", text)])).toMatchObject({ ok: true });
    expect(await play(runtime, [read("2026/b.md")])).toMatchObject({ data: [{ content: text }] });
    expect(filesBelow(join(disk.path, "memory"))).toEqual({ "2026/b.md": text, "a.md": text });
  }
});

test("runtimes with different data folders exclude each other in one workspace and finish each other's changes", async () => {
  using stage = mountedStage();
  const guest = new EventEmitter();
  const begun = once(guest, "begun");
  // Read under the lock, just before a guest runs.
  const clock = (): number => {
    guest.emit("begun");
    return 0;
  };
  await using other = await stage.open({ dataDir: join(stage.path, "elsewhere"), waitMs: 50 });
  expect(await play(other, [write("a.md", "one")])).toMatchObject({ ok: true });
  await using one = await stage.open({ clock, deadlineMs: 1_000 });
  const held = play(one, [{ spin: true }]);
  await begun;
  expect(await play(other, [write("a.md", "two")])).toMatchObject({ ok: false, error: { code: "BUSY" } });
  expect(await play(other, [write("a.md", "of bob")], "bob")).toMatchObject({ ok: true });
  expect(await held).toMatchObject({ ok: false });
  expect(await play(one, [read("a.md"), write("a.md", "three")])).toMatchObject({ data: [{ content: "one" }, {}] });
  expect(await play(other, [read("a.md"), write("a.md", "four")])).toMatchObject({ data: [{ content: "three" }, {}] });
  expect(stage.files()).toEqual({ "a.md": "four" });
});

test("refuses another user's id for a folder that has an owner", async () => {
  using stage = mountedStage();
  {
    await using runtime = await stage.open();
    expect(await play(runtime, [write("a.md", "of alice")])).toMatchObject({ ok: true });
  }
  const mounts = [{ userId: "Alice", scope: "journal", dir: stage.dir }];
  await using runtime = await stage.open({ mounts });
  for (const steps of [[read("a.md")], [write("a.md", "x")]]) {
    expect(await play(runtime, steps, "Alice")).toMatchObject({
      ok: false,
      error: {
        code: "STORAGE_UNSAFE",
        message: expect.stringContaining("the mounted folder: it belongs to another user"),
      },
    });
  }
  expect(stage.files()).toEqual({ "a.md": "of alice" });
});

test("a write by another program while a change is being flushed is not overwritten: the call is repeated", async () => {
  using stage = mountedStage();
  stage.put("a.md", "first");
  await using runtime = await stage.open();
  const staged = join(stage.dir, ".memcell/staged-0");
  let theirs = 0;
  let isOver = false;
  // The host awaits the disk between the record and the renames, so other code can run.
  const watch = (): void => {
    if (theirs < 1 && existsSync(staged)) {
      // By a process that ignores locks.
      execFileSync("sh", ["-c", `printf ', and theirs' >> "$1"`, "sh", join(stage.dir, "a.md")]);
      theirs++;
    }
    if (!isOver) setImmediate(watch);
  };
  watch();
  const steps = [read("a.md"), write("a.md", "ours"), write("b.md", "ours")];
  const seen = await play(runtime, steps);
  isOver = true;
  expect(theirs).toBe(1);
  expect(seen).toMatchObject({ ok: true, data: [{ content: "first, and theirs" }, {}, {}] });
  expect(stage.files()).toEqual({ "a.md": "ours", "b.md": "ours" });
  expect(await runtime.upkeep.users()).toEqual(["alice"]);
});

test("a call's record says that it went to a mount, if it did, also of a call that is refused there", async () => {
  using stage = mountedStage();
  const file = join(stage.path, "log", "audit.jsonl");
  {
    await using runtime = await stage.open({ auditLog: { file } });
    await play(runtime, [write("a.md", "of alice")]);
    await play(runtime, [read("../a.md")]);
    await play(runtime, [write("a.md", "of bob")], "bob");
  }
  stage.put(".memcell/owner", "mallory");
  {
    await using runtime = await stage.open({ auditLog: { file } });
    expect(await play(runtime, [read("a.md")])).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
    const signal = AbortSignal.abort();
    expect(await runtime.call("Puppet", [read("a.md")], { userId: "alice", signal })).toMatchObject({ ok: false });
  }
  const records = readRecords(file).flatMap((record) => {
    if (record.kind !== "call" && record.kind !== "staged") return [];
    return [[record.userId, record.kind === "call" ? record.code : "staged", record.mounted === true]];
  });
  expect(records).toEqual([
    ["alice", "staged", true],
    ["alice", null, true],
    ["alice", "CAPABILITY_DENIED", true],
    ["bob", "staged", false],
    ["bob", null, false],
    ["alice", "STORAGE_UNSAFE", true],
    ["alice", "CANCELLED", true],
  ]);
  const text = readFileSync(file, "utf8");
  for (const name of [stage.path, ".agent", "ws/"]) expect(text).not.toContain(name);
});

test.for([
  { name: "before the first file", applied: [] },
  { name: "between two files", applied: ["a.md"] },
])(
  "what a host killed $name has left is finished by a host that mounts the folder, and only by it",
  async ({ applied }) => {
    using stage = mountedStage();
    {
      await using runtime = await stage.open();
      expect(await play(runtime, [write("a.md", "old"), write("b.md", "old")])).toMatchObject({ ok: true });
    }
    const changed = ["a.md", "b.md", "2026/c.md"].map((path) => ({
      scope: "journal",
      path,
      before: path === "2026/c.md" ? null : digestOf(Buffer.from("old")),
      after: Buffer.from("new"),
    }));
    const segment = lastSegment(join(stage.dir, ".memcell"));
    writeFileSync(segment, segmentWith("alice", { boot: thisBoot, files: changed }));
    for (const path of applied) stage.put(path, "new");
    const left = stage.files();
    {
      await using unmounted = await stage.open({ mounts: [] });
      expect(await play(unmounted, [read("a.md"), list()])).toMatchObject({
        data: [{ content: null }, { entries: [] }],
      });
      expect(await unmounted.upkeep.inspect({ userId: "alice" })).toEqual([]);
    }
    expect(stage.files()).toEqual(left);
    const notes: string[] = [];
    await using other = await stage.open({
      dataDir: join(stage.path, "elsewhere"),
      onLog: ({ text }) => void notes.push(text),
    });
    expect(await play(other, [read("a.md")])).toMatchObject({ ok: true, data: [{ content: "new" }] });
    expect(stage.files()).toMatchObject({ "2026/c.md": "new", "a.md": "new", "b.md": "new" });
    expect(notes.join("\n")).toContain('mounted scope "journal": recovery finished a change of 3 files');
    expect(notes.join("\n")).not.toContain(stage.path);
  },
);
