/** What becomes of trust, and of calls, when a history is damaged, missing or in the way. */
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { encodeCheckpoint } from "../../host/store/files/commit/wal-format.ts";
import { HistoryStage } from "./history-stage.ts";
import { remove, trash, write } from "./store-stage.ts";

const trustOf = (stage: HistoryStage, path: string): Promise<string> =>
  stage.look(async (held) => (await held.originOf("memory", path))?.trust ?? `unknown: ${held.unknown}`);

test("that a history was lost is still known after the next change, and after a restart", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  rmSync(stage.history, { recursive: true });
  await stage.commit([write("b.md", "b")]);
  await stage.reopen();
  await stage.commit([write("a.md", "next")]);
  expect(await trustOf(stage, "a.md")).toBe("untrusted_document");
  expect(await trustOf(stage, "b.md")).toBe("direct_user");
});

test("a WAL that is damaged or gone had perhaps the last versions", async () => {
  for (const harm of [(wal: string) => writeFileSync(wal, "no WAL"), (wal: string) => unlinkSync(wal)]) {
    await using stage = new HistoryStage();
    await stage.commit([write("a.md", "a")]);
    await stage.reopen();
    await stage.commit([write("b.md", "from the web")], "untrusted_document");
    const other = stage.beside();
    harm(join(stage.user, ".memcell/journal"));
    await stage.commit([write("b.md", "next")], "direct_user", other);
    await other.close();
    expect(await trustOf(stage, "b.md")).toBe("untrusted_document");
  }
});

test("with missing versions, a file that differs from what is known of it has no trust either", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "mine")]);
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  const [first = ""] = readFileSync(stage.file("versions-"), "utf8").split("\n");
  writeFileSync(stage.file("versions-"), `${first}\n`);
  unlinkSync(join(stage.user, ".memcell/journal"));
  await stage.commit([write("b.md", "b"), write("a.md", "next")]);
  expect(await trustOf(stage, "a.md")).toBe("untrusted_document");
});

const obstacles: readonly (readonly [name: string, place: (stage: HistoryStage) => void])[] = [
  ["a folder in the place of contents", (stage) => inPlaceOf(stage.file("contents-"), (path) => mkdirSync(path))],
  ["a link in the place of versions", (stage) => inPlaceOf(stage.file("versions-"), (path) => symlinkSync("x", path))],
  ["a link in the place of the folder", (stage) => inPlaceOf(stage.history, (path) => symlinkSync("../memory", path))],
  ["a file in the place of the folder", (stage) => inPlaceOf(stage.history, (path) => writeFileSync(path, ""))],
];

function inPlaceOf(path: string, make: (path: string) => void): void {
  rmSync(path, { recursive: true });
  make(path);
}

test.for(obstacles)("%s: it is put aside, calls and purges go on, and no trust rises", async ([, place]) => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "from the web"), write("b.md", "b")], "tool_external");
  await stage.commit([trash("b.md", "trash/b.1.md")]);
  await stage.reopen();
  place(stage);
  await stage.commit([write("a.md", "next")]);
  await stage.reopen();
  await stage.commit([remove("trash/b.1.md")], "owner_edit");
  expect(["tool_external", "untrusted_document"]).toContain(await trustOf(stage, "a.md"));
  expect(stage.notes.join()).toContain("it was put aside as history-damaged-1");
  expect((await stage.findings()).join()).toContain("history-damaged: it could not be used as a history");
});

test("files from before there was a history are unstated, also when a purge or a restart comes first", async () => {
  const starts: ((stage: HistoryStage) => Promise<void>)[] = [
    (stage) => stage.commit([remove("trash/c.1.md")], "owner_edit"),
    (stage) => stage.commit([write("b.md", "b")]),
    (stage) => stage.store.retireLeftOver(),
  ];
  for (const start of starts) {
    await using stage = new HistoryStage();
    await stage.commit([write("a.md", "old"), write("c.md", "c")]);
    await stage.commit([trash("c.md", "trash/c.1.md")]);
    await stage.reopen();
    const wal = join(stage.user, ".memcell/journal");
    const header = readFileSync(wal);
    header.fill(0);
    header.set(encodeCheckpoint({ version: 2, first: 9, salt: "0".repeat(32) }, "alice"), 0);
    writeFileSync(wal, header);
    rmSync(stage.history, { recursive: true });
    await stage.reopen();
    await start(stage);
    await stage.reopen();
    await stage.commit([write("a.md", "next")]);
    expect(await trustOf(stage, "a.md")).toBe("unstated");
    expect(stage.notes).toEqual([]);
  }
});

test("a file that somebody moves by hand keeps its trust, and to purge it removes its contents", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "from the web"), write("c.md", "secret")], "tool_external");
  renameSync(join(stage.user, "memory/a.md"), join(stage.user, "memory/b.md"));
  mkdirSync(join(stage.user, "memory/trash"), { recursive: true });
  renameSync(join(stage.user, "memory/c.md"), join(stage.user, "memory/trash/c.md"));
  await stage.commit([write("b.md", "next")]);
  expect(await trustOf(stage, "b.md")).toBe("tool_external");
  await stage.commit([remove("trash/c.md")], "owner_edit");
  await stage.reopen();
  expect(await stage.contents("c.md")).toEqual([null]);
  expect(await stage.contents("a.md")).toEqual(["from the web"]);
});

test("to purge one of two files that were trashed together leaves the contents of the other", async () => {
  await using stage = new HistoryStage();
  for (const text of ["1", "2"]) await stage.commit([write("a.md", `a${text}`), write("b.md", `b${text}`)]);
  await stage.commit([trash("a.md", "trash/a.1.md"), trash("b.md", "trash/b.1.md")]);
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  expect(await stage.contents("b.md")).toEqual(["b1", "b2", null]);
  expect(await stage.contents("a.md")).toEqual([null, null, null]);
});

test("a version whose number is taken by another is noticed", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "a")]);
  await stage.reopen();
  await stage.commit([write("b.md", "from the web")], "untrusted_document");
  const [line = ""] = readFileSync(stage.file("versions-"), "utf8").split("\n");
  appendFileSync(stage.file("versions-"), `${line.replace('"seq":1', '"seq":2')}\n`);
  await stage.reopen();
  await stage.commit([write("b.md", "next")]);
  expect(await trustOf(stage, "b.md")).toBe("untrusted_document");
});

const torn: readonly ((whole: Buffer, lastLine: number) => Buffer)[] = [
  (whole, lastLine) => whole.subarray(0, lastLine + 9),
  (whole, lastLine) => Buffer.from(whole).fill(0, 0, lastLine),
];

test("a power cut in the middle of a move tears lines that the WAL still has", async () => {
  for (const tear of torn) {
    await using stage = new HistoryStage();
    const texts = ["one", "two", "three"];
    for (const text of texts) await stage.commit([write("a.md", text)]);
    const wal = readFileSync(join(stage.user, ".memcell/journal"));
    await stage.reopen();
    const whole = readFileSync(stage.file("versions-"));
    writeFileSync(stage.file("versions-"), tear(whole, whole.lastIndexOf("\n", whole.length - 2) + 1));
    writeFileSync(join(stage.user, ".memcell/journal"), wal);
    await stage.commit([write("a.md", "four")]);
    await stage.reopen();
    expect(readFileSync(stage.file("versions-")).subarray(0, whole.length)).toEqual(whole);
    expect(await stage.contents("a.md")).toEqual([...texts, "four"]);
    expect(await stage.look(({ isBroken }) => isBroken)).toBe(false);
    expect(await stage.findings()).toEqual([]);
  }
});
