/** Invalid mounts are refused before anything is created, and no message names a folder. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Mount } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { shippedNames, testPlugin } from "../support/test-plugin.ts";
import { journalPuppet, mountedStage, play, read, write } from "./mounted-stage.ts";

const stage = mountedStage();
afterAll(() => stage[Symbol.dispose]());

const ofAlice = (dir: unknown, scope: unknown = "journal", userId: unknown = "alice"): Mount =>
  ({ userId, scope, dir }) as Mount;
const at = (...names: string[]): string => join(stage.path, ...names);

mkdirSync(at("linked"));
symlinkSync(at("linked"), at("link"));
mkdirSync(at("place"));
symlinkSync(at("place"), at("data-link"));
symlinkSync("not-yet/there", at("link-ahead"));
symlinkSync("turning", at("turning"));

const inData = "mounts[0].dir lies in the data folder";
const inOther = "mounts[1].dir is, holds or lies in";

type Row = readonly [name: string, says: string, mounts: unknown, dataDir?: string];

const rows: readonly Row[] = [
  ["a value that is not a list", "mounts is not an array", {}],
  ["an item that is not an object", "mounts[0] is not an object", [null]],
  ["a user that is a parent path", 'mounts[0].userId is "../bob"', [ofAlice("a", "journal", "../bob")]],
  ["a scope that is a parent path", 'mounts[0].scope is "../memory"', [ofAlice("a", "../memory")]],
  ["an empty folder's name", "mounts[0].dir is no name of a folder", [ofAlice("")]],
  ["a NUL", "mounts[0].dir is no name of a folder", [ofAlice("a\0b")]],
  ["a scope twice", "mounts[1] has user and scope of mounts[0]", [ofAlice(at("a")), ofAlice(at("b"))]],
  ["a folder twice, by a link", inOther, [ofAlice(at("linked")), ofAlice(at("link"), "journal", "bob")]],
  ["a folder in another, both missing", inOther, [ofAlice(at("a")), ofAlice(at("a", "b"), "journal", "bob")]],
  ["a folder around another", inOther, [ofAlice(at("a", "b")), ofAlice(at("a"), "journal", "bob")]],
  ["the data folder", inData, [ofAlice(stage.dataDir)]],
  ["another user's folder", inData, [ofAlice(join(stage.dataDir, "users", "bob", "memory"))]],
  ["the data folder behind a link", inData, [ofAlice(at("place", "notes"))], at("data-link")],
  [
    "the data folder behind a link with a missing target",
    inData,
    [ofAlice(at("not-yet", "there", "notes"))],
    at("link-ahead", "data", ".."),
  ],
  [
    "a folder behind a link with a missing target",
    inOther,
    [ofAlice(at("not-yet")), ofAlice(at("link-ahead"), "journal", "bob")],
  ],
  [
    "a folder twice, behind a link that leads to itself",
    inOther,
    [ofAlice(at("turning", "a")), ofAlice(at("turning"), "journal", "bob")],
  ],
  ["a folder that contains the data folder", "mounts[0].dir holds the data folder", [ofAlice(stage.path)]],
  [
    "too many",
    "mounts has 65 items, at most 64 allowed",
    Array.from({ length: 65 }, (_, each) => ofAlice(at(`m${each}`), "journal", `u${each}`)),
  ],
];

test.for(rows)("refuses %s", async ([, says, mounts, dataDir = stage.dataDir]) => {
  const opening = stage.open({ mounts: mounts as Mount[], dataDir });
  const message = await opening.then(
    () => "opened",
    (error: unknown) =>
      error instanceof RangeError || error instanceof TypeError ? error.message : `${error as Error}`,
  );
  expect(message).toContain(says);
  expect(message).not.toContain(stage.path);
  expect(existsSync(stage.dataDir)).toBe(false);
});

test("accepts 64 mounts", async () => {
  const mounts = Array.from({ length: 64 }, (_, each) => ofAlice(at(`m${each}`), "journal", `u${each}`));
  await using runtime = await stage.open({ mounts });
  expect(await runtime.upkeep.users()).toHaveLength(64);
});

test("refuses an audit log in a mounted folder, because a tool could write there", async () => {
  const auditLog = { file: join(stage.dir, "log", "audit.jsonl") };
  await expect(stage.open({ auditLog })).rejects.toThrow("mounts[0].dir holds the audit log");
  expect(existsSync(stage.dir)).toBe(false);
});

test.each(["users", "stores"])("refuses an audit log in the folder %s", async (name) => {
  const auditLog = { file: join(stage.dataDir, name, "audit.jsonl") };
  await expect(stage.open({ auditLog, mounts: [] })).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  expect(existsSync(stage.dataDir)).toBe(false);
});

test("refuses a folder locked by another runtime, and any folder inside it", async () => {
  using other = mountedStage();
  const plugins = [journalPuppet(other.path)];
  await using server = await other.open();
  for (const userId of ["alice", "bob"])
    expect(await play(server, [write("a/b.md", "")], userId)).toMatchObject({ ok: true });
  const opened = (dir: string): Promise<unknown> =>
    createRuntime({ dataDir: at("elsewhere"), plugins, policy: policyFor(plugins), mounts: [ofAlice(dir)] });
  const bob = join(other.dataDir, "users", "bob");
  const shared = join(other.dataDir, "stores", "00000001-1111-4111-8111-111111111111");
  mkdirSync(join(shared, ".memcell", "granted"), { recursive: true });
  for (const dir of [
    shared,
    join(shared, "entries"),
    join(other.dir, "a"),
    join(other.dir, "absent", "b"),
    bob,
    join(bob, "journal"),
    join(bob, "notes"),
  ]) {
    await expect(opened(dir)).rejects.toThrow("mounts[0].dir is or lies in a folder that a host keeps under its lock");
  }
  await using sharing = await other.open({ dataDir: at("elsewhere") });
  expect(await play(sharing, [read("a/b.md")])).toMatchObject({ ok: true, data: [{ content: "" }] });
});

test("mounts a folder below one named users repeatedly", async () => {
  const mounts = [ofAlice(at("users", "alice"))];
  for (const content of ["one", "two"]) {
    await using runtime = await stage.open({ mounts });
    expect(await play(runtime, [write("a.md", content)])).toMatchObject({ ok: true });
  }
});

test("refuses a tool with a mounted scope and another one, and a scope that no tool has", async () => {
  const plugins = [testPlugin("puppet")];
  const opened = (mounts: Mount[]): Promise<unknown> =>
    createRuntime({ dataDir: stage.dataDir, plugins, policy: policyFor(plugins), mounts });
  await expect(opened([ofAlice(stage.dir, "notes")])).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: expect.stringContaining('the tool "TwoScopesPuppet" has 2 scopes'),
  });
  await expect(opened([ofAlice(stage.dir, "jurnal")])).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: 'Cannot mount "jurnal": no loaded tool has this scope, allowed: memory, notes',
  });
  // No folder can be mounted as shared stores, so their scope is not among what is allowed.
  const bundled = createRuntime({
    dataDir: stage.dataDir,
    plugins: shippedNames(),
    mounts: [ofAlice(stage.dir, "store")],
  });
  await expect(bundled).rejects.toMatchObject({
    message: 'Cannot mount "store": no loaded tool has this scope, allowed: journal, memory, runs',
  });
});
