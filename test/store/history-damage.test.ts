/** What becomes of trust, and of calls, when a history is damaged, missing or in the way. */
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { framesOf } from "../stage/journal.ts";
import { walOf } from "../stage/wal.ts";
import { FileStage } from "./file-stage.ts";
import { remove, trash, write } from "./store-stage.ts";

/** Changes the text of the segment that is written to, or of what is packed. */
function edit(stage: FileStage, change: (text: string) => string, packed: string | null = null): void {
  const file = packed ?? stage.segment;
  const bytes = readFileSync(file);
  const text = (packed === null ? bytes : gunzipSync(bytes)).toString("latin1");
  const changed = Buffer.from(change(text), "latin1");
  writeFileSync(file, packed === null ? changed : gzipSync(changed));
}

const damages = [
  { name: "a raised trust", change: (text: string) => text.replace("tool_external", "owner_edit   ") },
  { name: "a changed frame", change: (text: string) => text.replace('"path":"1.md"', '"path":"7.md"') },
  {
    name: "a missing frame",
    change: (text: string) => text.replace(/\{"frame": *2,.*(?=\{"frame": *3,)/s, ""),
  },
  {
    name: "a version that is none",
    change: (text: string) => text.replace('{"seq":2,', '{"sex":2,'),
  },
];

test.for(
  damages.flatMap((each) => [Object.assign({ isPacked: false }, each), Object.assign({ isPacked: true }, each)]),
)(
  "the doctor finds $name, packed $isPacked, and files of which nothing is known then have no trust",
  async ({ change, isPacked }) => {
    await using stage = new FileStage();
    for (const [at, of] of (["tool_external", "direct_user", "direct_user"] as const).entries()) {
      await stage.commit([write(`${at}.md`, "x")], of);
    }
    const packed = isPacked ? await stage.pack() : null;
    await stage.reopen();
    rmSync(join(stage.journal, "present.json"), { force: true });
    edit(stage, change, packed);
    expect(await stage.findings()).toEqual([expect.stringContaining("history-broken")]);
    expect(await stage.look((held) => held.state())).toMatchObject({ isBroken: true, unknown: "untrusted_document" });
    expect(stage.notes).toContain("versions of the history are missing or were changed");
    await stage.commit([write("1.md", "next")]);
    expect(await stage.trustOf("1.md")).toBe("untrusted_document");
    await stage.reopen();
    // What stands behind the damage is left for a person to look at.
    const files = readdirSync(stage.journal).map((name) => readFileSync(join(stage.journal, name)));
    const texts = files.map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString());
    expect(texts.join()).toContain('"path":"2.md"');
  },
);

test.for([
  { name: "its folder", path: (stage: FileStage) => stage.journal },
  { name: "its last segment", path: (stage: FileStage) => stage.segment },
  { name: "its recorded end", path: (stage: FileStage) => stage.own("journal-head") },
])("that $name was removed is noticed, and still known after the next change and after a restart", async ({ path }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  rmSync(path(stage), { recursive: true });
  expect(await stage.findings()).toEqual([expect.stringMatching(/^history-broken: .*no file has any trust$/)]);
  await stage.commit([write("b.md", "b")]);
  expect(stage.notes).toContain("versions of the history are missing or were changed");
  await stage.reopen();
  await stage.commit([write("c.md", "c")]);
  await stage.reopen();
  writeFileSync(join(stage.user, "memory/d.md"), "by hand");
  await stage.commit([write("d.md", "next")]);
  expect([await stage.trustOf("d.md"), await stage.trustOf("b.md")]).toEqual(["untrusted_document", "direct_user"]);
});

test.for([
  { name: "removed", harm: (segment: string) => unlinkSync(segment) },
  { name: "emptied", harm: (segment: string) => writeFileSync(segment, "") },
])("the doctor tells that the segment behind packed ones was $name", async ({ harm }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.pack();
  harm(stage.segment);
  expect(await stage.findings()).toEqual([expect.stringMatching(/^history-broken: .*no file has any trust$/)]);
  await stage.commit([write("b.md", "b")]);
  await stage.reopen();
  expect(await stage.look((held) => held.state().isBroken)).toBe(true);
  expect(await stage.findings()).toEqual([]);
});

test.for([
  { name: "damaged", harm: (segment: string) => writeFileSync(segment, "no journal".repeat(100)) },
  { name: "gone", harm: (segment: string) => unlinkSync(segment) },
  { name: "cut", harm: (segment: string) => truncateSync(segment, 700) },
  { name: "zeros", harm: (segment: string) => writeFileSync(segment, Buffer.alloc(9_000)) },
])("a journal that is $name had perhaps the last versions", async ({ harm }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "a")]);
  await stage.reopen();
  await stage.commit([write("b.md", "from the web")], "untrusted_document");
  const other = stage.beside();
  harm(stage.segment);
  await stage.commit([write("b.md", "next")], "direct_user", { by: other });
  await other.close();
  expect(await stage.trustOf("b.md")).toBe("untrusted_document");
});

test("with missing versions, a file that differs from what is known of it has no trust either", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "mine")]);
  const { end } = framesOf(readFileSync(stage.segment), "alice");
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  truncateSync(stage.segment, end);
  await stage.commit([write("b.md", "b"), write("a.md", "next")]);
  expect(await stage.trustOf("a.md")).toBe("untrusted_document");
});

test("a journal that is put back to an older copy alone is noticed by another process", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "a")]);
  await stage.reopen();
  cpSync(stage.journal, stage.aside, { recursive: true });
  await stage.commit([write("b.md", "from the web")], "untrusted_document");
  await stage.reopen();
  rmSync(stage.journal, { recursive: true });
  cpSync(stage.aside, stage.journal, { recursive: true });
  await stage.commit([write("b.md", "next")]);
  expect(await stage.trustOf("b.md")).toBe("untrusted_document");
});

test.for([
  { name: "a folder in the place of packed contents", place: "contents.gz", make: (path: string) => mkdirSync(path) },
  { name: "a link in the place of a packed segment", place: "log.gz", make: (path: string) => symlinkSync("x", path) },
  { name: "noise in the place of a packed segment", place: "log.gz", make: (path: string) => writeFileSync(path, "x") },
  { name: "a folder in the place of known origins", place: "present.json", make: (path: string) => mkdirSync(path) },
] as const)("with $name, calls and purges go on, and no trust rises", async ({ place, make }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web"), write("b.md", "b")], "tool_external");
  await stage.commit([trash("b.md", "trash/b.1.md")]);
  const packed = await stage.pack();
  const path = place === "present.json" ? join(stage.journal, place) : packed.replace("log.gz", place);
  rmSync(path, { force: true });
  make(path);
  await stage.commit([write("a.md", "next")]);
  await stage.reopen();
  await stage.commit([remove("trash/b.1.md")], "owner_edit");
  expect(["tool_external", "untrusted_document"]).toContain(await stage.trustOf("a.md"));
});

test.for([
  { name: "a link", make: (path: string) => symlinkSync("../memory", path) },
  { name: "a link to nothing", make: (path: string) => symlinkSync("nowhere", path) },
])("with $name in the place of the journal, nothing is read or written there", async ({ make }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  rmSync(stage.journal, { recursive: true });
  make(stage.journal);
  await expect(stage.commit([write("a.md", "next")])).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  expect(readdirSync(join(stage.user, "memory"))).toEqual(["a.md"]);
});

test.for([
  { name: "an empty file", text: "" },
  { name: "a text", text: "no journal" },
])("with $name in the place of the journal, calls go on, and no trust rises", async ({ text }) => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  rmSync(stage.journal, { recursive: true });
  writeFileSync(stage.journal, text);
  await stage.commit([write("a.md", "next")]);
  expect(await stage.trustOf("a.md")).toBe("untrusted_document");
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
  // A log as a host without a history has left it.
  for (const each of [stage.journal, stage.own("journal-head")]) rmSync(each, { recursive: true });
  writeFileSync(stage.journal, walOf("alice", { first: 9 }));
  await stage.reopen();
  await start(stage);
  await stage.reopen();
  await stage.commit([write("a.md", "next")]);
  expect(await stage.trustOf("a.md")).toBe("unstated");
  expect(stage.notes).toEqual([]);
});
