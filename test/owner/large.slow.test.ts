/**
 * Upkeep of as much as tools can make, and of more in the trash: it is there to be relieved. An undo of more than a call does. A
 * memory that is larger than the command that moves it. Each run takes one or two of these.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { zipOf } from "../stage/archive.ts";
import { oneIn } from "../stage/seed.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";
import { alice, bob, honest, liveFiles, openUpkeep, poisoned, remove, upsert } from "./upkeep-stage.ts";

const plugins = ["user-memory"];

/** Those that take long are not in the same part. */
const all = [
  { what: "a trash of more files than a call has room for arguments is purged", show: purgesTrash },
  { what: "a full memory of letters of two bytes goes round and is mended", show: () => goesRound("\u00e9") },
  { what: "a full memory of characters that JSON escapes goes round and is mended", show: () => goesRound('\\"') },
  { what: "what its plugin has no room for, or cannot read, is named, and comes back later", show: namesWhatIsLeft },
  { what: "a memory of 208 MiB goes through the command in any form, in bounded memory", show: goesThrough },
  { what: "an undo of more bytes than one change set holds is done in parts", show: undoesInParts },
];

test.for(oneIn(3, all))("$what", { timeout: 600_000 }, ({ show }) => show());

async function openWithTrash(count: number) {
  const at = await openUpkeep("files", { plugins });
  const trash = join(at.home(), "memory/trash");
  mkdirSync(trash, { recursive: true });
  writeFileSync(join(trash, "../MEMORY.md"), "");
  for (let each = 0; each < count; each++) writeFileSync(join(trash, `y${each}.20260101T000000000Z.md`), "");
  return at;
}

const restored = "y7.20260101T000000000Z.md";
const later = { beforeEpochMs: Date.UTC(2027, 0) };

async function purgesTrash(): Promise<void> {
  const count = 150_000;
  await using at = await openWithTrash(count);
  expect(await at.upkeep.listTrash(alice)).toHaveLength(count);
  expect(await at.upkeep.inspect(alice)).toEqual([]);
  const exported = await at.upkeep.openExport(alice);
  expect(() => zipOf(exported)).toThrow("at most 65534 entries and 4 GiB, and this one would have 150002 entries");
  let read = 0;
  for await (const _file of exported.contents()) read++;
  expect(read).toBe(count + 1);
  await expect(at.upkeep.import(bob, (await at.upkeep.export(alice)).files)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: 'Cannot import the memory: its scope "memory" has 150001 files with its trash, at most 60000 allowed',
  });
  expect(await at.upkeep.restore(alice, restored)).toMatchObject({ path: "y7.md" });
  expect(await at.upkeep.purge(alice, later)).toHaveLength(count - 1);
  const removedHidden = count - 1 - auditLimits.recordFilesMax;
  const purged = at.records().findLast((record) => record.kind === "upkeep" && record.action === "purge");
  expect(purged).toMatchObject({ code: null, removedHidden });
}

/** As many entries as the tools make, of the largest kind: 62.6 of 64 MiB. */
const count = 1_000;
const bodyBytes = 65_536;

async function goesRound(unit: string): Promise<void> {
  await using at = await openUpkeep("files", { plugins });
  const body = unit.repeat(bodyBytes / Buffer.byteLength(unit));
  const files = Array.from({ length: count }, (_, each) => ({
    scope: "memory",
    path: `e${each}.md`,
    content: Buffer.from(`---\ndescription: number ${each}\ntype: user\n---\n${body}`),
  }));
  expect((await at.upkeep.import(alice, files)).created).toHaveLength(count);
  expect(await at.upkeep.inspect(alice)).toEqual([]);
  const exported = await at.upkeep.export(alice);
  expect(exported.files).toHaveLength(count + 1);
  const { created, refused } = await at.upkeep.import(bob, exported.files);
  expect([created.length, refused]).toEqual([count + 1, []]);
  const more = at.upkeep.import(bob, [{ scope: "memory", path: "more.md", content: Buffer.from("More") }]);
  await expect(more).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  rmSync(join(at.home("bob"), "memory/MEMORY.md"));
  expect(await at.upkeep.mend(bob)).toMatchObject([{ problem: "index-missing" }]);
  expect(await at.upkeep.inspect(bob)).toEqual([]);
}

const measured = fileURLToPath(new URL("../../dist/test/owner/measured-command.js", import.meta.url));

/** Nearly all that a scope holds, in each scope that a plugin of the package has. */
function fillScopes(dataDir: string): void {
  const folders = ["journal", "memory", "runs"].map((scope) => join(userFolder(dataDir, "alice"), scope));
  for (const scope of [...folders, join(dataDir, "stores", storeIdOf("alice"), "entries")]) {
    mkdirSync(join(scope, "trash"), { recursive: true });
    for (let each = 0; each < 26; each++) {
      const content = Buffer.alloc(2 ** 21, `${scope} ${each}\n`);
      // Some is text, and some is not.
      if (each % 2 === 0) content.fill(0xff, each, 2 ** 20);
      writeFileSync(join(scope, `trash/x${each}.20260101T000000000Z.md`), content);
    }
  }
  writeUserFiles(dataDir, { alice: { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a") } });
}

async function goesThrough(): Promise<void> {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  fillScopes(dataDir);
  const env = { ...process.env, NODE_OPTIONS: "--max-old-space-size=96" };
  const memcell = async (name: string, ...args: readonly string[]) => {
    const command = [measured, name, "--data", dataDir, ...args];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: folder.path, env });
    return { last: stdout.trimEnd().split("\n").at(-1), mib: Number(stderr.trimEnd().split("\n").at(-1)) };
  };
  const bytes = 4 * 26 * 2 ** 21 + Buffer.byteLength(entryText("a") + indexLine("a"));
  for (const format of ["zip", "json", "markdown"]) {
    const { last, mib } = await memcell("export", "--user", "alice", "--format", format, `alice.${format}`);
    expect(last).toBe(`106 files, ${bytes} bytes written`);
    // It takes 150 to 190; with all contents in memory, one more for each.
    expect(mib).toBeLessThan(250);
  }
  const exported = readFileSync(join(folder.path, "alice.zip"));
  for (const [user, source] of [
    ["bob", "alice.zip"],
    ["carol", "alice.markdown"],
  ] as const) {
    const { last, mib } = await memcell("import", "--user", user, source, "--yes");
    expect(last).toBe(`2 created, 104 added to the trash, ${bytes} bytes`);
    // It takes up to 540, of which 400 are a scope that is planned or committed; with the contents of all scopes, 690 to 750.
    expect(mib).toBeLessThan(650);
    await memcell("export", "--user", user, `${user}.zip`);
    expect(readFileSync(join(folder.path, `${user}.zip`)).equals(exported)).toBe(true);
  }
  await expect(memcell("import", "--user", "dave", "alice.json")).rejects.toThrow(
    "at most 195035136 allowed for JSON; export it as a zip file or a folder",
  );
}

const run = { run: "poisoned" };

async function undoesInParts(): Promise<void> {
  await using stage = await openUpkeep("memory", { plugins });
  const { upkeep } = stage.runtime;
  const names = Array.from({ length: 600 }, (_, at) => `entry-${String(at).padStart(3, "0")}`);
  const files = names.map((name) => {
    const content = Buffer.from(`${entryText(name)}${"x".repeat(60_000)}`);
    return { scope: "memory", path: `${name}.md`, content };
  });
  await upkeep.import(alice, files);
  const before = await liveFiles(stage);
  for (const name of names) await stage.write({ ctx: poisoned, input: remove(name) });
  const last = (await upkeep.history(alice))[0]?.seq ?? 0;
  const plan = await upkeep.planUndo(alice, run);
  expect(plan.restored).toHaveLength(600);
  expect((await upkeep.undo(alice, run)).restored).toEqual(plan.restored);
  expect(await liveFiles(stage)).toEqual(before);
  expect((await upkeep.history(alice))[0]?.seq).toBe(last + 2);
}

async function namesWhatIsLeft(): Promise<void> {
  await using stage = await openUpkeep("files", { plugins });
  const { upkeep } = stage.runtime;
  const names = Array.from({ length: 999 }, (_, at) => `entry-${at}`);
  await upkeep.import(
    alice,
    names.map((name) => ({ scope: "memory", path: `${name}.md`, content: Buffer.from(entryText(name)) })),
  );
  writeFileSync(join(stage.home(), "memory/mine.md"), Uint8Array.of(0xff));
  await stage.write({ ctx: poisoned, input: upsert("mine", "evil") });
  for (const name of ["entry-1", "entry-2"]) await stage.write({ ctx: poisoned, input: remove(name) });
  for (const name of ["more-1", "more-2"]) await stage.write({ ctx: honest, input: upsert(name, "honest") });
  const reason = expect.stringMatching(/^its plugin refuses what it was before: /) as string;
  const deleted = ["memory/entry-1.md", "memory/entry-2.md"];
  const left = deleted.map((path) => ({ path, reason }));
  expect(await upkeep.undo(alice, run)).toMatchObject({
    restored: [],
    trashed: ["memory/mine.md"],
    left: [...left, { path: "memory/mine.md", reason }],
  });
  expect(await upkeep.undo(alice, run)).toMatchObject({ restored: [], trashed: [], left });
  await stage.write({ ctx: honest, input: remove("more-1") });
  expect(await upkeep.undo(alice, run)).toMatchObject({ restored: deleted, trashed: [], left: [] });
}
