/** The history of files on a disk: across processes and kills, after edits by hand, and when the trash is emptied. */
import { randomBytes } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { diskOr, fillUp } from "../crash/small-disk-store.ts";
import { framesOf } from "../stage/journal.ts";
import { FileStage } from "./file-stage.ts";
import { contentsOf, remove, soon, trash, write } from "./store-stage.ts";

interface Torn {
  readonly start: number;
  readonly end: number;
}

const contentsIn = (packed: string): string => packed.replace(/log\.gz$/, "contents.gz");

const long = (at: number): string => `${"the same beginning. ".repeat(40)}${at}${" the same end".repeat(40)}`;

test("versions and contents outlast the process, and a long journal is packed when its user is idle", async () => {
  await using stage = new FileStage();
  const all = Array.from({ length: 400 }, (_, at) => long(at));
  for (const text of all) await stage.commit([write("a.md", text)]);
  expect(await stage.contents("a.md")).toEqual(all);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(all);
  const files = readdirSync(stage.journal);
  expect(files.filter((name) => name.endsWith(".gz"))).toHaveLength(2);
  const bytes = files.reduce((sum, name) => sum + statSync(join(stage.journal, name)).size, 0);
  expect(bytes).toBeLessThan(all.join("").length / 4);
  await stage.commit([write("a.md", "last")], "tool_internal");
  expect(await stage.look((held) => held.state().head.seq)).toBe(401);
  expect(await stage.versions()).toEqual(Array.from({ length: 401 }, (_, at) => at + 1));
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

test.for([
  { name: "is cut", tear: (whole: Buffer, { start }: Torn) => whole.fill(0, start + 200) },
  { name: "is zeros where it begins", tear: (whole: Buffer, { start }: Torn) => whole.fill(0, start, start + 100) },
  { name: "lacks a part of a content", tear: (whole: Buffer, { end }: Torn) => whole.fill(0, end - 3, end) },
  { name: "has another content", tear: (whole: Buffer, { end }: Torn) => whole.fill("x", end - 5, end - 4) },
])("after a power cut, a last frame that $name does not count, and is written again", async ({ tear }) => {
  await using stage = new FileStage();
  for (const text of ["one", "two"]) await stage.commit([write("a.md", text)]);
  const { end: start } = framesOf(readFileSync(stage.segment), "alice");
  await stage.commit([write("a.md", "three")]);
  const whole = readFileSync(stage.segment);
  const { end } = framesOf(whole, "alice");
  const next = stage.beside();
  writeFileSync(stage.segment, tear(whole, { start, end }));
  writeFileSync(join(stage.user, "memory", "a.md"), "two");
  await stage.commit([write("a.md", "four")], "direct_user", { by: next });
  await next.close();
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(["one", "two", "four"]);
  expect(await stage.findings()).toEqual([]);
});

test("a segment that a crash has left both packed and as it was is read once", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one")]);
  const text = "what fills the journal ".repeat(3_000);
  for (let at = 0; at < 9; at++) await stage.commit([write("filler.md", `${text}${at}`)]);
  const { segment } = stage;
  const whole = readFileSync(segment);
  await stage.reopen();
  expect(readdirSync(stage.journal)).toContain("000000000001.log.gz");
  writeFileSync(segment, whole);
  await stage.reopen();
  const versions = await stage.versions();
  expect(versions).toEqual(versions.map((_, at) => at + 1));
  await stage.commit([write("a.md", "next")]);
  expect(await stage.findings()).toEqual([]);
});

test("what no version names is gone from the journal when its frame is settled", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one")]);
  await stage.store.holdRecords("alice" as never, soon(), (records) =>
    records.write("pending", "abc", "a secret that waits"),
  );
  expect(readFileSync(stage.segment, "utf8")).toContain("a secret that waits");
  await stage.reopen();
  expect(readFileSync(stage.segment, "utf8")).not.toContain("a secret that waits");
  expect(await stage.contents("a.md")).toEqual(["one"]);
  expect(readFileSync(stage.own("pending/abc.json"), "utf8")).toBe("a secret that waits");
});

test("in a copy of a home, the next change begins a segment: the times of the copy's files say nothing", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "one")]);
  await stage.reopen();
  cpSync(stage.user, stage.aside, { recursive: true });
  await stage.store.close();
  rmSync(stage.user, { recursive: true });
  renameSync(stage.aside, stage.user);
  await stage.reopen();
  await stage.commit([write("a.md", "two")]);
  expect(readdirSync(stage.journal)).toEqual(["000000000001.log", "000000000002.log"]);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(["one", "two"]);
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

test.for([
  { where: "written to", isPacked: false },
  { where: "packed", isPacked: true },
])(
  "emptying the trash removes a file's contents under all names that it had, and nothing else: $where",
  async ({ isPacked }) => {
    await using stage = new FileStage();
    const [secret, kept] = ["a secret ".repeat(50), "something else ".repeat(50)];
    await stage.commit([write("a.md", secret), write("b.md", `${secret}b`), write("d.md", "trashed together")]);
    await stage.commit([write("a.md", `${secret}, edited`), write("c.md", kept)]);
    await stage.commit([trash("a.md", "trash/a.1.md"), trash("d.md", "trash/d.1.md"), write("a.md", "a new one")]);
    const before = isPacked ? gunzipSync(readFileSync(contentsIn(await stage.pack()))) : readFileSync(stage.segment);
    expect(before.toString()).toContain(", edited");
    await stage.reopen();
    await stage.commit([remove("trash/a.1.md")], "owner_edit");
    await stage.reopen();
    const { "filler.md": _, ...contents } = await stage.look(contentsOf);
    expect(contents).toEqual({
      "a.md": [null, null, "a new one"],
      "trash/a.1.md": [null, null],
      "b.md": [`${secret}b`],
      "c.md": [kept],
      "d.md": ["trashed together", null],
      "trash/d.1.md": ["trashed together"],
    });
    expect((await stage.versions()).at(-1)).toEqual([isPacked ? 13 : 4, "purged"]);
    const packed = readdirSync(stage.journal).filter((name) => name.endsWith(".gz"));
    const texts = packed.map((name) => gunzipSync(readFileSync(join(stage.journal, name))).toString());
    for (const text of [...texts, readFileSync(stage.segment, "utf8")]) expect(text).not.toContain(", edited");
    expect(await stage.findings()).toEqual([]);
  },
);

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

test("a purge on a full disk loses no version", async (context) => {
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
