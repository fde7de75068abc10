/** The history of files on a disk: across processes and kills, after edits by hand, and when the trash is emptied. */
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { diskOr, fillUp } from "../crash/small-disk-store.ts";
import { FileStage } from "./file-stage.ts";
import { contentsOf, remove, soon, trash, write } from "./store-stage.ts";

const long = (at: number): string => `${"the same beginning. ".repeat(40)}${at}${" the same end".repeat(40)}`;

test("versions and contents outlast the process, and a content like the one before takes little room", async () => {
  await using stage = new FileStage();
  const all = Array.from({ length: 100 }, (_, at) => long(at));
  for (const text of all) await stage.commit([write("a.md", text)]);
  expect(await stage.contents("a.md")).toEqual(all);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(all);
  expect(readFileSync(stage.file("contents-")).length).toBeLessThan(all.join("").length / 4);
  await stage.commit([write("a.md", "last")], "tool_internal");
  expect(await stage.look((held) => held.state().head.seq)).toBe(101);
  expect(await stage.versions()).toEqual(Array.from({ length: 101 }, (_, at) => at + 1));
  expect(await stage.findings()).toEqual([]);
});

test("after another process has emptied the trash, no version has a number that is taken", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one"), write("b.md", "two")]);
  await stage.commit([trash("a.md", "trash/a.1.md")]);
  const other = stage.beside();
  await stage.commit([write("c.md", "three")], "direct_user", { by: other });
  await other.close();
  await stage.reopen();
  await stage.look((held) => held.state());
  const purging = stage.beside();
  await stage.commit([remove("trash/a.1.md")], "owner_edit", { by: purging });
  await purging.close();
  await stage.commit([write("b.md", "four")], "tool_internal");
  await stage.reopen();
  expect(await stage.versions()).toEqual([1, 2, 3, [4, "purged"], 5]);
  expect(await stage.findings()).toEqual([]);
});

test("what a killed process has left in the WAL is in the history once", async () => {
  await using stage = new FileStage();
  for (const text of ["one", "two"]) await stage.commit([write("a.md", text)]);
  const [killed, moved] = [`${stage.aside}-1`, `${stage.aside}-2`];
  cpSync(stage.user, killed, { recursive: true });
  await stage.reopen();
  // As after a crash between the move to the history and the end of the WAL's records.
  cpSync(stage.history, moved, { recursive: true });
  await stage.store.close();
  rmSync(stage.user, { recursive: true });
  cpSync(killed, stage.user, { recursive: true });
  rmSync(stage.history, { recursive: true });
  cpSync(moved, stage.history, { recursive: true });
  await stage.reopen();
  await stage.commit([write("a.md", "three")]);
  expect(await stage.contents("a.md")).toEqual(["one", "two", "three"]);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(["one", "two", "three"]);
  expect(await stage.findings()).toEqual([]);
});

test("what a crash has left of a line does not count, and is written again", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one")]);
  await stage.reopen();
  for (const each of ["versions-", "contents-"] as const) appendFileSync(stage.file(each), '{"seq":2,"at":"20');
  await stage.commit([write("a.md", "two")]);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(["one", "two"]);
  expect(await stage.findings()).toEqual([]);
});

test.for([
  { name: "ends in its middle", tear: (whole: Buffer, lastLine: number) => whole.subarray(0, lastLine + 9) },
  { name: "is zeros before it", tear: (whole: Buffer, lastLine: number) => Buffer.from(whole).fill(0, 0, lastLine) },
])("after a power cut, a file whose last line $name is mended from the WAL", async ({ tear }) => {
  await using stage = new FileStage();
  const texts = ["one", "two", "three"];
  for (const text of texts) await stage.commit([write("a.md", text)]);
  const wal = readFileSync(stage.wal);
  await stage.reopen();
  const whole = readFileSync(stage.file("versions-"));
  writeFileSync(stage.file("versions-"), tear(whole, whole.lastIndexOf("\n", whole.length - 2) + 1));
  writeFileSync(stage.wal, wal);
  await stage.commit([write("a.md", "four")]);
  await stage.reopen();
  expect(readFileSync(stage.file("versions-")).subarray(0, whole.length)).toEqual(whole);
  expect(await stage.contents("a.md")).toEqual([...texts, "four"]);
  expect(await stage.look((held) => held.state().isBroken)).toBe(false);
  expect(await stage.findings()).toEqual([]);
});

test("an edit by hand becomes a version of its own, with its content, and its trust is not higher than before", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web"), write("b.md", "mine")], "tool_external");
  writeFileSync(join(stage.user, "memory", "a.md"), "edited by hand");
  writeFileSync(join(stage.user, "memory", "new.md"), "made by hand");
  await stage.commit([write("a.md", "next"), write("new.md", "next")]);
  const byHand = [
    { path: "a.md", trust: "tool_external" },
    { path: "new.md", before: null, trust: "owner_edit" },
  ];
  expect((await stage.look((held) => held.versions())).slice(1)).toMatchObject([
    { kind: "edited", class: "owner_edit", tool: null, files: byHand },
    { class: "direct_user", files: [{ path: "a.md", trust: "tool_external" }, { path: "new.md" }] },
  ]);
  expect(await stage.contents("a.md")).toEqual(["from the web", "edited by hand", "next"]);
  await stage.reopen();
  expect(await stage.contents("new.md")).toEqual(["made by hand", "next"]);
});

test("an edit and a removal by hand of files that were only read are versions as well", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one"), write("b.md", "two")]);
  writeFileSync(join(stage.user, "memory", "a.md"), "edited");
  unlinkSync(join(stage.user, "memory", "b.md"));
  await stage.store.holdUser("alice" as never, soon(), async (held) => {
    for (const path of ["a.md", "b.md"]) await held.reader.bytesOf("memory", path);
    await held.commit([write("c.md", "three")], held.reader.seen);
  });
  const [, edited] = await stage.look((held) => held.versions());
  expect(edited).toMatchObject({ kind: "edited", files: [{ path: "a.md" }, { path: "b.md", sha256: null }] });
});

test("a file that somebody has put back to an earlier state is told, with the lower trust of the two", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.commit([write("b.md", "b")]);
  cpSync(join(stage.user, "memory"), stage.aside, { recursive: true });
  await stage.commit([write("a.md", "approved")], "owner_edit", { kind: "approved" });
  await stage.reopen();
  cpSync(stage.aside, join(stage.user, "memory"), { recursive: true });
  await stage.commit([write("a.md", "next")]);
  expect(stage.notes.join()).toContain("somebody has put files back to an earlier state: a.md");
  const files = [{ path: "a.md", trust: "tool_external" }];
  const [, , , found, next] = await stage.look((held) => held.versions());
  expect(found).toMatchObject({ kind: "put back", class: "owner_edit", files });
  expect(next).toMatchObject({ files });
});

test("a whole folder that is put back to an older state, with its history, is noticed", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one")]);
  await stage.reopen();
  cpSync(stage.user, stage.aside, { recursive: true });
  await stage.commit([write("a.md", "two")]);
  await stage.look((held) => held.state());
  rmSync(stage.user, { recursive: true });
  cpSync(stage.aside, stage.user, { recursive: true });
  await stage.commit([write("a.md", "three")]);
  expect(stage.notes).toContain("the history was put back to version 1, after version 2");
});

test("emptying the trash removes the contents of the file, under all names that it had, and nothing else", async () => {
  await using stage = new FileStage();
  const [secret, kept] = ["a secret ".repeat(50), "something else ".repeat(50)];
  await stage.commit([write("a.md", secret), write("b.md", `${secret}b`), write("d.md", "trashed together")]);
  await stage.commit([write("a.md", `${secret}, edited`), write("c.md", kept)]);
  await stage.commit([trash("a.md", "trash/a.1.md"), trash("d.md", "trash/d.1.md"), write("a.md", "a new one")]);
  await stage.reopen();
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  await stage.reopen();
  expect(await stage.look(contentsOf)).toEqual({
    "a.md": [null, null, "a new one"],
    "trash/a.1.md": [null, null],
    "b.md": [`${secret}b`],
    "c.md": [kept],
    "d.md": ["trashed together", null],
    "trash/d.1.md": ["trashed together"],
  });
  expect(await stage.versions()).toEqual([1, 2, 3, [4, "purged"]]);
  expect(readFileSync(stage.file("contents-"), "utf8")).not.toContain(", edited");
  expect(await stage.findings()).toEqual([]);
});

test("a file that somebody moves by hand keeps its trust, and to purge it removes its contents", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web"), write("c.md", "secret")], "tool_external");
  const memory = join(stage.user, "memory");
  renameSync(join(memory, "a.md"), join(memory, "b.md"));
  mkdirSync(join(memory, "trash"));
  renameSync(join(memory, "c.md"), join(memory, "trash/c.md"));
  await stage.commit([write("b.md", "next")]);
  expect(await stage.trustOf("b.md")).toBe("tool_external");
  await stage.commit([remove("trash/c.md")], "owner_edit");
  await stage.reopen();
  expect([await stage.contents("c.md"), await stage.contents("a.md")]).toEqual([[null], ["from the web"]]);
});

const noise = (bytes: number): string => randomBytes(bytes).toString("base64");

/** A full disk costs contents of the history, and never a version. */
test("a purge on a full disk loses no version of the WAL that could not be retired", async (context) => {
  const disk = await diskOr(context, "tmpfs", { bytes: 1024 * 1024 });
  const filler = join(disk.path, "filler");
  await using stage = new FileStage(disk);
  await stage.commit([write("a.md", noise(20_000))]);
  await stage.commit([trash("a.md", "trash/a.1.md")]);
  await stage.reopen();
  for (let at = 0; at < 10; at++) await stage.commit([write("b.md", noise(8_000))]);
  fillUp(filler);
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  await stage.reopen();
  rmSync(filler);
  await stage.commit([write("b.md", "last")], "tool_internal");
  await stage.reopen();
  const sequences = await stage.look(async (held) => (await held.versions()).map(({ seq }) => seq));
  expect(sequences).toEqual(sequences.map((_, at) => at + 1));
  expect(sequences.length).toBeGreaterThanOrEqual(13);
  expect(await stage.look((held) => held.state().isBroken)).toBe(false);
  expect((await stage.contents("b.md")).at(-1)).toBe("last");
  expect(await stage.findings()).toEqual([]);
  expect(stage.notes.filter((note) => note.includes("missing"))).toEqual([]);
});

test("contents that were not kept are never what later ones are told from", async (context) => {
  const disk = await diskOr(context, "tmpfs", { bytes: 1024 * 1024 });
  const filler = join(disk.path, "filler");
  await using stage = new FileStage(disk);
  const texts = ["1", "2", "3"].map((last) => `${"beginning ".repeat(9_000)}${last}`);
  await stage.commit([write("a.md", texts[0] ?? "")]);
  fillUp(filler);
  await stage.reopen();
  rmSync(filler);
  for (const text of texts.slice(1)) await stage.commit([write("a.md", text)]);
  await stage.reopen();
  expect((await stage.contents("a.md")).slice(1)).toEqual(texts.slice(1));
  expect(await stage.findings()).toEqual([]);
});
