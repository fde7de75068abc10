/**
 * `upkeep.inspect` and `mend`: find, report and repair what people or crashes have left behind. Each problem of a plugin's
 * files, and how it is mended, is in `test/conformance/vectors/inspect-*`.
 */
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { afterAll, expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";
import { inShort, openUpkeep, upsert } from "./upkeep-stage.ts";

const stage = await openUpkeep();
afterAll(() => stage[Symbol.asyncDispose]());
const { upkeep } = stage;
let users = 0;

/** A user with these files in the scope `memory`. */
function userWith(memory: Readonly<Record<string, string | Buffer>>) {
  const userId = `user-${(users += 1)}`;
  const home = stage.home(userId);
  stage.put({ ".memcell/owner": userId }, userId);
  for (const [path, text] of Object.entries(memory)) {
    mkdirSync(join(home, "memory", path, ".."), { recursive: true });
    writeFileSync(join(home, "memory", path), text);
  }
  return { ctx: { userId }, home };
}

const stamp = "20260101T000000000Z";

test("a file that is not text goes to the trash byte for byte, and an index likewise", async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  const { home, ctx } = userWith({ "a.md": entryText("a"), "b.md": bytes, "MEMORY.md": bytes });
  const found = (await upkeep.mend(ctx)).map(inShort);
  expect(found).toEqual(["memory/MEMORY.md index-unreadable", "memory/b.md entry-unreadable"]);
  for (const name of ["b", "MEMORY"]) {
    expect(readFileSync(join(home, `memory/trash/${name}.${stamp}.md`))).toEqual(bytes);
  }
  expect(readFileSync(join(home, "memory/MEMORY.md"), "utf8")).toBe(indexLine("a"));
});

test("what only a person can repair is reported, and left alone", async () => {
  const names = ["A", "a", "big"];
  const { home, ctx } = userWith({
    "MEMORY.md": names.map(indexLine).join(""),
    "A.md": entryText("A"),
    "a.md": entryText("a"),
    "big.md": entryText("big", "x".repeat(70_000)),
  });
  symlinkSync("a.md", join(home, "memory/link.md"));
  // A scope's folder named like the host's own hides nothing.
  symlinkSync("/etc", join(home, "memory/.memcell"));
  const found = await upkeep.inspect(ctx);
  expect(found.map(inShort).toSorted()).toEqual([
    "memory/.memcell not-a-plain-file",
    "memory/a.md names-differ-by-case",
    "memory/big.md entry-too-large",
    "memory/link.md not-a-plain-file",
  ]);
  expect(found.every(({ remedy }) => remedy === null)).toBe(true);
  expect(await upkeep.mend(ctx)).toEqual([]);
  const left = readdirSync(join(home, "memory")).toSorted();
  expect(left).toEqual([".memcell", "A.md", "MEMORY.md", "a.md", "big.md", "link.md"]);
});

test("files and folders that no tool finds because of their names are named in every scope, and renamed", async () => {
  const { ctx } = userWith({});
  const { userId } = ctx;
  // Vectors have more of each, and what is advised.
  const strange = [
    "memory/My: notes.md name-not-allowed",
    "memory/notes.txt file-unused",
    "journal/a:b.md name-not-allowed",
    `journal/${"d".repeat(200)}/${"e".repeat(60)}.md name-not-allowed`,
    "of-no-plugin/x:y name-not-allowed",
  ];
  const paths = [...strange.map((each) => each.replace(/ \S+$/, "")), "memory/.DS_Store", "memory/.git/x"];
  const files = Object.fromEntries(paths.map((path) => [path, "x"]));
  stage.put({ ...files, "memory/MEMORY.md": "", "runs/My: Notes/x.md": "x" }, userId);
  const store = join(stage.dataDir, "stores", storeIdOf(userId));
  for (const below of ["entries/My: Notes", ".memcell"]) mkdirSync(join(store, below), { recursive: true });
  writeFileSync(join(store, "entries/My: Notes/Über panda.md"), "x");
  writeFileSync(join(store, ".memcell/staged-0"), "left over");
  const found = await upkeep.inspect(ctx);
  const ofStore = `stores/${storeIdOf(userId)}/.memcell`;
  const ofHost = [`${ofStore}/owner owner-missing`, `${ofStore}/staged-0 temporary-file`];
  const inFolders = ["runs/My: Notes name-not-allowed", "store/My: Notes name-not-allowed"];
  expect(found.map(inShort).toSorted()).toEqual([...strange, ...inFolders, ...ofHost].toSorted());
  const unnamed = found.filter(({ problem }) => problem === "name-not-allowed");
  expect(unnamed.find(({ path }) => path === "memory/My: notes.md")?.remedy).toBe('rename it to "My- notes.md"');
  expect((await upkeep.mend(ctx)).map(inShort).toSorted()).toEqual([...unnamed.map(inShort), ...ofHost].toSorted());
  const renamed = ["memory/My- notes.md", "journal/a-b.md", "of-no-plugin/x-y", "runs/My- Notes/x.md", "memory/.git/x"];
  expect(Object.keys(stage.files(userId))).toEqual(expect.arrayContaining([...renamed, "memory/notes.txt"]));
});

test("a folder with the name of an entry's file is named: its notes are read, and no tool can keep that entry", async () => {
  const { ctx } = userWith({ "kept.md/x.md": entryText("x"), "folder/y.md": entryText("y"), "MEMORY.md": "" });
  await upkeep.mend(ctx);
  expect((await upkeep.inspect(ctx)).map(inShort)).toEqual(["memory/kept.md folder-for-entry"]);
  expect((await upkeep.entries(ctx)).entries.map(({ name }) => name).toSorted()).toEqual(["x", "y"]);
});

test("what a killed process has left in the host's own folder is found and removed, a damaged log kept", async () => {
  const userId = `user-${(users += 1)}`;
  expect(await stage.runtime.call("UpdateUserMemory", upsert("a", ""), { userId })).toMatchObject({ ok: true });
  const own = join(stage.home(userId), ".memcell");
  writeFileSync(join(own, "staged-7"), "half a fi");
  writeFileSync(join(own, "journal-damaged-1"), "no journal");
  const found = (await upkeep.inspect({ userId })).map(inShort).toSorted();
  // A part of the journal was put aside, and the rest does not say so.
  const mended = [".memcell/journal history-broken", ".memcell/staged-7 temporary-file"];
  expect(found).toEqual([".memcell/journal-damaged-1 journal-damaged", ...mended].toSorted());
  expect((await upkeep.mend({ userId })).map(inShort).toSorted()).toEqual(mended);
  expect(readdirSync(own).toSorted().join(" ")).toBe(
    "journal journal-damaged-1 journal-head lock owner runs turnstile",
  );
});

test("users() lists everyone who has a folder, whatever their ids look like", async () => {
  await using at = await openUpkeep();
  expect(await at.upkeep.users()).toEqual([]);
  const ids = ["alice", "Ünï cödé", "con", "%41", "x".repeat(128), "漢".repeat(42)];
  for (const userId of ids) await at.runtime.call("UpdateUserMemory", upsert("a", ""), { userId });
  writeUserFiles(at.dataDir, { "by hand": { "memory/a.md": entryText("a") } });
  mkdirSync(join(at.dataDir, "users/no%user"));
  symlinkSync(userFolder(at.dataDir, "alice"), join(at.dataDir, "users/link"));
  expect(await at.upkeep.users()).toEqual(["by hand", ...ids].toSorted());
});
