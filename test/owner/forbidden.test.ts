/**
 * A file or folder that the host may not open, as after a copy by another user: it is named, and costs only itself. An
 * erasure removes everything else, and the rest when it is permitted.
 */
import { chmodSync, cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { alice, inShort, upsert } from "./upkeep-stage.ts";

const denied = "the disk does not permit it";
const gone = { closed: [], left: [], users: [], read: "ENTRY_NOT_FOUND", mended: 0 };
const stays = { users: ["left"], read: "ENTRY_NOT_FOUND", mended: 1 };
const unsafe = (path: string) => ({ ...gone, found: [`${path} not-a-plain-file`], exported: "STORAGE_UNSAFE" });

/** A file or folder, its permissions in octal digits, and what becomes of each operation. */
const cases: readonly (readonly [name: string, mode: string, becomes: object])[] = [
  [
    "memory/a.md",
    "000",
    { ...gone, found: ["memory/a.md not-a-plain-file"], exported: { files: 2, leftOut: ["a.md"] } },
  ],
  // An empty folder is removed without being opened.
  [
    "memory/trash",
    "000",
    {
      ...gone,
      found: ["memory/trash not-a-plain-file"],
      exported: { files: 3, leftOut: ["trash"] },
      closed: [`users/alice/memory/trash: ${denied}`],
    },
  ],
  [
    "memory/sub",
    "000",
    {
      ...stays,
      found: ["memory/sub not-a-plain-file", "memory not-inspected"],
      exported: { files: 2, leftOut: ["sub"] },
      closed: [`users/alice/memory/sub: ${denied}`],
      left: [`memory/sub: ${denied}`],
    },
  ],
  [
    "memory/sub",
    "500",
    { ...stays, found: [], exported: { files: 3, leftOut: [] }, left: [`memory/sub/secret.md: ${denied}`] },
  ],
  [
    "memory",
    "000",
    {
      ...stays,
      found: ["memory not-a-plain-file", "memory not-inspected"],
      exported: "STORAGE_FAILED",
      closed: [`users/alice/memory: ${denied}`],
      left: [`memory: ${denied}`],
    },
  ],
  [".memcell/journal/000000000001.log", "000", unsafe(".memcell/journal")],
  [
    ".memcell/journal",
    "000",
    {
      ...stays,
      found: [".memcell/journal not-a-plain-file"],
      closed: [`users/alice/.memcell/journal: ${denied}`],
      left: [`.memcell/journal: ${denied}`],
    },
  ],
  [".memcell/owner", "000", gone],
  [".memcell", "000", { ...stays, closed: [`users/alice/.memcell: ${denied}`], left: [`.memcell: ${denied}`] }],
  // Whose folder it is cannot be said.
  [
    "",
    "000",
    { closed: "STORAGE_FAILED", left: "STORAGE_FAILED", users: ["alice"], read: "STORAGE_FAILED", mended: 0 },
  ],
];

const nobody = 65_534;
/** Root may open everything. */
const isRoot = process.getuid?.() === 0;
const folder = temporaryFolder();
const open = (dataDir: string) => createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
const placeOf = (at: number): string => join(folder.path, String(at));

beforeAll(async () => {
  {
    await using runtime = await open(placeOf(0));
    await runtime.call("UpdateUserMemory", upsert("a", "x"), alice);
  }
  writeUserFiles(placeOf(0), { alice: { "memory/sub/secret.md": "secret" } });
  mkdirSync(join(placeOf(0), "users/alice/memory/trash"));
  for (let at = 1; at < cases.length; at++) cpSync(placeOf(0), placeOf(at), { recursive: true });
  if (!isRoot) return;
  await runCommand("chown", ["-R", `${nobody}:${nobody}`, folder.path]);
  process.seteuid?.(nobody);
});
afterAll(() => {
  if (isRoot) process.seteuid?.(0);
  folder[Symbol.dispose]();
});

const codeOf = ({ code }: { readonly code: string }): string => code;

test.for(cases.map(([name, mode, becomes], at) => [name, mode, becomes, at] as const))(
  'what the host may not open is named, and keeps nothing else from its owner: "%s" with %s',
  async ([name, mode, becomes, at]) => {
    const users = join(placeOf(at), "users");
    chmodSync(join(users, "alice", name), Number.parseInt(mode, 8));
    await using runtime = await open(placeOf(at));
    const { upkeep } = runtime;
    const found = await upkeep
      .inspect(alice)
      .then((all) => all.map(inShort).filter((each) => !each.includes("secret.md")), codeOf);
    const exported = await upkeep
      .export(alice)
      .then(({ files, leftOut }) => ({ files: files.length, leftOut: leftOut.map(({ path }) => path) }), codeOf);
    const closed = await upkeep
      .planErase(alice)
      .then((plan) => plan.closed.map(({ path, reason }) => `${path}: ${reason}`), codeOf);
    const left = await upkeep
      .erase(alice)
      .then((done) => done.left.map(({ path, reason }) => `${path.split("/").slice(2).join("/")}: ${reason}`), codeOf);
    const remaining = readdirSync(users).map((each) => (each.startsWith(".erased.") ? "left" : each));
    const again = await runtime.call("ReadUserMemory", { name: "a" }, alice);
    for (const each of readdirSync(users)) chmodSync(join(users, each, name), 0o700);
    const mended = (await upkeep.mendStrays()).length;
    const read = again.ok ? "all" : again.error.code;
    expect({ found, exported, closed, left, users: remaining, read, mended }).toMatchObject(becomes);
  },
);
