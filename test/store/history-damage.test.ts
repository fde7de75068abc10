/** What becomes of trust, and of calls, when a history is damaged, missing or in the way. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";

import { expect, test } from "vitest";

import { walOf } from "../stage/wal.ts";
import { FileStage } from "./file-stage.ts";
import { remove, trash, write } from "./store-stage.ts";

function edit(stage: FileStage, change: (lines: string[]) => string[]): void {
  const file = stage.file("versions-");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(file, `${change(lines).join("\n")}\n`);
}

test.for([
  {
    name: "a raised trust",
    change: (lines: string[]) => lines.map((line) => line.replaceAll("tool_external", "owner_edit")),
    found: "was changed",
  },
  {
    name: "a missing line",
    change: (lines: string[]) => lines.filter((_, at) => at !== 1),
    found: "version 2 is missing",
  },
  {
    name: "a line that is none",
    change: (lines: string[]) => ["{}", ...lines.slice(1)],
    found: "version 1 is no version",
  },
])("the doctor finds $name, and files of which nothing is known then have no trust", async ({ change, found }) => {
  await using stage = new FileStage();
  for (const [at, of] of (["tool_external", "direct_user", "direct_user"] as const).entries()) {
    await stage.commit([write(`${at}.md`, "x")], of);
  }
  await stage.reopen();
  edit(stage, change);
  expect(await stage.findings()).toEqual([expect.stringContaining(found)]);
  expect(await stage.look((held) => held.state())).toMatchObject({ isBroken: true, unknown: "untrusted_document" });
  expect(stage.notes).toContain("versions of the history are missing or were changed");
});

test("that a history was removed is noticed, and still known after the next change and after a restart", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  rmSync(stage.history, { recursive: true });
  expect(await stage.findings()).toEqual(["history-broken: it is missing: no file has any trust"]);
  await stage.commit([write("b.md", "b")]);
  expect(stage.notes).toContain("versions of the history are missing or were changed");
  await stage.reopen();
  await stage.commit([write("a.md", "next")]);
  expect([await stage.trustOf("a.md"), await stage.trustOf("b.md")]).toEqual(["untrusted_document", "direct_user"]);
  const [, edited] = await stage.look((held) => held.versions());
  expect(edited).toMatchObject({ kind: "edited", files: [{ path: "a.md", trust: "untrusted_document" }] });
});

test.for([
  { name: "damaged", harm: (wal: string) => writeFileSync(wal, "no WAL") },
  { name: "gone", harm: (wal: string) => unlinkSync(wal) },
])("a WAL that is $name had perhaps the last versions", async ({ harm }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "a")]);
  await stage.reopen();
  await stage.commit([write("b.md", "from the web")], "untrusted_document");
  const other = stage.beside();
  harm(stage.wal);
  await stage.commit([write("b.md", "next")], "direct_user", { by: other });
  await other.close();
  expect(await stage.trustOf("b.md")).toBe("untrusted_document");
});

test("with missing versions, a file that differs from what is known of it has no trust either", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "mine")]);
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  edit(stage, (lines) => lines.slice(0, 1));
  unlinkSync(stage.wal);
  await stage.commit([write("b.md", "b"), write("a.md", "next")]);
  expect(await stage.trustOf("a.md")).toBe("untrusted_document");
});

test("a version whose number is taken by another is noticed", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "a")]);
  await stage.reopen();
  await stage.commit([write("b.md", "from the web")], "untrusted_document");
  const [line = ""] = readFileSync(stage.file("versions-"), "utf8").split("\n");
  appendFileSync(stage.file("versions-"), `${line.replace('"seq":1', '"seq":2')}\n`);
  await stage.reopen();
  await stage.commit([write("b.md", "next")]);
  expect(await stage.trustOf("b.md")).toBe("untrusted_document");
});

test.for([
  { name: "a folder in the place of contents", place: "contents-", make: (path: string) => mkdirSync(path) },
  { name: "a link in the place of versions", place: "versions-", make: (path: string) => symlinkSync("x", path) },
  { name: "a link in the place of the folder", place: null, make: (path: string) => symlinkSync("../memory", path) },
  { name: "a file in the place of the folder", place: null, make: (path: string) => writeFileSync(path, "") },
] as const)("$name: it is put aside, calls and purges go on, and no trust rises", async ({ place, make }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web"), write("b.md", "b")], "tool_external");
  await stage.commit([trash("b.md", "trash/b.1.md")]);
  await stage.reopen();
  const path = place === null ? stage.history : stage.file(place);
  rmSync(path, { recursive: true });
  make(path);
  await stage.commit([write("a.md", "next")]);
  await stage.reopen();
  await stage.commit([remove("trash/b.1.md")], "owner_edit");
  expect(["tool_external", "untrusted_document"]).toContain(await stage.trustOf("a.md"));
  expect(stage.notes.join()).toContain("it was put aside as history-damaged-1");
  expect((await stage.findings()).join()).toContain("history-damaged: it could not be used as a history");
});

test.for([
  { name: "a purge", start: (stage: FileStage) => stage.commit([remove("trash/c.1.md")], "owner_edit") },
  { name: "a write", start: (stage: FileStage) => stage.commit([write("b.md", "b")]) },
  { name: "a restart", start: (stage: FileStage) => stage.store.retireLeftOver() },
])("files from before there was a history are unstated, also when $name comes first", async ({ start }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "old"), write("c.md", "c")]);
  await stage.commit([trash("c.md", "trash/c.1.md")]);
  await stage.reopen();
  // A WAL as a host without a history has left it.
  const size = readFileSync(stage.wal).length;
  writeFileSync(stage.wal, Buffer.concat([walOf("alice", { first: 9 }), Buffer.alloc(size)]).subarray(0, size));
  rmSync(stage.history, { recursive: true });
  await stage.reopen();
  await start(stage);
  await stage.reopen();
  await stage.commit([write("a.md", "next")]);
  expect(await stage.trustOf("a.md")).toBe("unstated");
  expect(stage.notes).toEqual([]);
});
