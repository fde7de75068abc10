/**
 * A memory folder that Dropbox, Syncthing, iCloud or Obsidian keeps on several machines: what
 * `host/owner/GIT-AND-SYNC.md` says of the files that they leave, of files that come late, and of files that they lose.
 * No such program runs here: a test does to the folder what they do.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { cellsIn, commandStage } from "../cli/command-stage.ts";
import type { CommandStage } from "../cli/command-stage.ts";
import { entryText, indexLine } from "../support/memory-files.ts";

const index = indexLine("editor") + indexLine("tea");
const clean = "1 user checked\n";

let at: CommandStage;
beforeEach(() => {
  const texts = { "memory/editor.md": entryText("editor"), "memory/tea.md": entryText("tea") };
  at = commandStage({ alice: { ...texts, "memory/MEMORY.md": index } });
});
afterEach(() => at[Symbol.dispose]());

const says = async (...args: readonly string[]): Promise<string> => (await at.memcell(...args)).stdout;
const names = async (): Promise<string[]> =>
  cellsIn(await says("list"))
    .slice(1)
    .map(([name = ""]) => name);
const place = (path: string): string => join(at.home("alice"), path);

function put(path: string, text: string): void {
  mkdirSync(dirname(place(path)), { recursive: true });
  writeFileSync(place(path), text);
}

async function saves(name: string): Promise<string> {
  const input = JSON.stringify({ action: "upsert", name, type: "user", description: "d", body: "By an agent" });
  return await says("call", "UpdateUserMemory", "--user", "alice", "--input", input);
}

const copies = [
  { by: "Dropbox", file: "editor (conflicted copy 2026-11-30).md", name: "editor-conflicted-copy-2026-11-30" },
  {
    by: "Syncthing",
    file: "editor.sync-conflict-20261130-071200-ABCDEFG.md",
    name: "editor-sync-conflict-20261130-071200-abcdefg",
  },
  { by: "iCloud", file: "editor 2.md", name: "editor-2" },
];

test.for(copies)("$by: the copy of a note is a note of its own beside it, and neither changes", async (copy) => {
  put(`memory/${copy.file}`, entryText("editor", "Of the other machine"));
  expect(await names()).toEqual(["editor", "tea", copy.name]);
  expect(await saves("coffee")).toContain('"ok": true');
  await says("doctor", "--fix");
  expect(await says("doctor")).toBe(clean);
  expect(readFileSync(place(`memory/${copy.file}`), "utf8")).toBe(entryText("editor", "Of the other machine"));
  expect(readFileSync(place("memory/editor.md"), "utf8")).toBe(entryText("editor"));
  rmSync(place(`memory/${copy.file}`));
  expect((await names()).toSorted()).toEqual(["coffee", "editor", "tea"]);
  await says("doctor", "--fix");
  expect(readFileSync(place("memory/MEMORY.md"), "utf8")).not.toContain(copy.name);
});

test("the copy of an index is a note, too, until a person removes it", async () => {
  put("memory/MEMORY (conflicted copy 2026-11-30).md", index);
  expect(await names()).toEqual(["editor", "tea", "memory-conflicted-copy-2026-11-30"]);
  rmSync(place("memory/MEMORY (conflicted copy 2026-11-30).md"));
  expect(await says("doctor")).toBe(clean);
});

const hidden = [
  ".DS_Store",
  ".editor.md.icloud",
  ".git/HEAD",
  ".gitignore",
  ".obsidian/app.json",
  ".stfolder/x",
  ".stversions/editor~20261130.md",
  ".syncthing.editor.md.tmp",
  ".trash/old.md",
];

test("files and folders that begin with a dot are none of the memory, and nobody complains of them", async () => {
  for (const file of hidden) put(`memory/${file}`, entryText("hidden"));
  expect(await names()).toEqual(["editor", "tea"]);
  expect(await says("doctor", "--fix")).toBe(clean);
  for (const file of hidden) expect(readFileSync(place(`memory/${file}`), "utf8")).toBe(entryText("hidden"));
});

test.for(["editor.md.orig", "desktop.ini", "photo.jpg"])(
  "%s is named by the doctor and left as it is",
  async (file) => {
    put(`memory/${file}`, "x");
    expect(await names()).toEqual(["editor", "tea"]);
    const needed = new RegExp(`  memory/${file}: .*\\n    needs a person\\n`);
    for (const args of [["doctor"], ["doctor", "--fix"]]) expect(await says(...args)).toMatch(needed);
    expect(readFileSync(place(`memory/${file}`), "utf8")).toBe("x");
  },
);

test("a note that comes before the index, or after it, is listed as soon as it is there", async () => {
  put("memory/coffee.md", entryText("coffee"));
  expect(await names()).toEqual(["editor", "tea", "coffee"]);
  put("memory/MEMORY.md", index + indexLine("coffee") + indexLine("late"));
  expect(await names()).toEqual(["editor", "tea", "coffee"]);
  put("memory/late.md", entryText("late"));
  expect(await says("doctor")).toBe(clean);
});

test("an index that is lost is built again from the notes", async () => {
  rmSync(place("memory/MEMORY.md"));
  expect((await names()).toSorted()).toEqual(["editor", "tea"]);
  await says("doctor", "--fix");
  const lines = readFileSync(place("memory/MEMORY.md"), "utf8").split("\n").filter(Boolean);
  expect(lines.map((line) => `${line}\n`).toSorted()).toEqual([indexLine("editor"), indexLine("tea")]);
});

test("without memcell's own state the notes are all there, as if written by hand; what waited and the history are gone", async () => {
  await saves("editor");
  expect(cellsIn(await says("list"))[1]?.slice(2)).toEqual(["saved by an assistant", "d"]);
  rmSync(place(".memcell"), { recursive: true });
  expect(cellsIn(await says("list"))[1]?.slice(1)).toEqual(["edited by hand", "d"]);
  expect(await says("waiting")).toBe("Nothing waits\n");
  expect(await at.memcell("history", "editor")).toMatchObject({ status: 1 });
  expect(await saves("tea")).toContain('"ok": true');
});

test("conflict copies among memcell's own state are not read", async () => {
  await saves("coffee");
  const journal = place(".memcell/journal");
  for (const name of readdirSync(journal)) cpSync(join(journal, name), join(journal, `${name} (conflicted copy)`));
  for (const name of ["journal-head", "owner", "lock"])
    cpSync(place(`.memcell/${name}`), place(`.memcell/${name}.sync-conflict-20261130-071200-ABCDEFG`));
  expect(await says("doctor")).toBe(clean);
  expect(await saves("coffee")).toContain('"ok": true');
  expect(cellsIn(await says("history", "coffee"))).toHaveLength(3);
});

test("an older state of memcell's own over newer notes changes none of them, and the newer text counts as written by hand", async () => {
  await saves("editor");
  cpSync(place(".memcell"), place("older"), { recursive: true });
  await saves("tea");
  rmSync(place(".memcell"), { recursive: true });
  cpSync(place("older"), place(".memcell"), { recursive: true });
  rmSync(place("older"), { recursive: true });
  expect(readFileSync(place("memory/tea.md"), "utf8")).toContain("By an agent");
  expect(
    cellsIn(await says("list"))
      .slice(1)
      .map((cells) => cells.at(-2)),
  ).toEqual(["saved by an assistant", "edited by hand"]);
  expect(readFileSync(place("memory/tea.md"), "utf8")).toContain("By an agent");
});
