/** Files beside, before and behind a journal's own, numbers that nobody has written, and what is known of origins: none hides a version. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import type { UserId } from "../stage/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { FileStage } from "./file-stage.ts";
import { remove, soon, trash, write } from "./store-stage.ts";

const named = (stage: FileStage, number: number): string =>
  join(stage.journal, `${String(number).padStart(12, "0")}.log`);

/** Each puts something there, of a home with one change that is settled. */
const planted: Readonly<Record<string, (stage: FileStage) => void>> = {
  "an empty segment behind": (stage) => writeFileSync(named(stage, 2), ""),
  "an empty segment far behind": (stage) => writeFileSync(named(stage, 7), ""),
  "a segment of zeros": (stage) => writeFileSync(named(stage, 2), Buffer.alloc(9_000)),
  "a copy of the segment under another number": (stage) => copyFileSync(stage.segment, named(stage, 500)),
  "an end with a number that no journal has": (stage) =>
    writeFileSync(stage.own("journal-head"), `999999999999 ${"a".repeat(64)}\n`),
  "origins of a version that was never made": (stage) => {
    const head = { seq: 500, hash: "a".repeat(64) };
    writeFileSync(join(stage.journal, "present.json"), JSON.stringify({ head, segment: 1, files: [], runs: [] }));
  },
  "origins of a segment that is not there": (stage) => {
    const head = { seq: 1, hash: "a".repeat(64) };
    writeFileSync(join(stage.journal, "present.json"), JSON.stringify({ head, segment: 9, files: [], runs: [] }));
  },
  "origins of a history that an earlier format has not left": (stage) => {
    const head = { seq: 3, hash: "a".repeat(64) };
    mkdirSync(stage.own("history"));
    writeFileSync(stage.own("history/present.json"), JSON.stringify({ head, files: [], runs: [] }));
  },
  "frames that nobody has settled": (stage) => {
    const text = readFileSync(stage.segment, "latin1");
    writeFileSync(stage.segment, text.replace(/"settled": {11}1/, '"settled":         900'), "latin1");
  },
};

test.for(Object.entries(planted))("%s hides no version, and raises no trust", async ([, plant]) => {
  await using stage = new FileStage();
  await stage.commit([write("first.md", "one")]);
  await stage.reopen();
  plant(stage);
  await stage.commit([write("a.md", "from the web")], "tool_external");
  for (let round = 0; round < 2; round++) {
    await stage.reopen();
    expect(["tool_external", "untrusted_document"]).toContain(await stage.trustOf("a.md"));
    expect(await stage.contents("a.md")).toEqual(["from the web"]);
    await stage.commit([write(`${round}.md`, "next")]);
  }
  expect(await stage.versions()).toEqual([1, 2, 3, 4]);
  const logs = readdirSync(stage.journal).filter((name) => name.endsWith(".log"));
  const empty = logs.filter((name) => readFileSync(join(stage.journal, name))[0] !== "{".charCodeAt(0));
  expect(empty).toEqual([]);
});

test("that versions are missing is not forgotten when what is known of origins is written", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  const packed = await stage.pack();
  for (let at = 0; at < 600; at++) await stage.commit([write("b.md", `${at}`)]);
  // Whoever knows the versions would write what they have left.
  await stage.reopen();
  rmSync(packed);
  rmSync(packed.replace("log.gz", "contents.gz"));
  rmSync(join(stage.journal, "present.json"));
  for (let round = 0; round < 3; round++) {
    await stage.reopen();
    await stage.look((held) => held.state());
  }
  expect(await stage.look((held) => held.state())).toMatchObject({ isBroken: true, unknown: "untrusted_document" });
  await stage.commit([write("a.md", "next")]);
  expect(await stage.trustOf("a.md")).toBe("untrusted_document");
});

test("two processes never write to two segments, also if a backup is copied over the journal", async () => {
  await using stage = new FileStage();
  for (const text of ["1", "2"]) await stage.commit([write("a.md", text)]);
  const backup = readFileSync(stage.segment);
  const second = stage.beside();
  for (const text of ["3", "4", "5"]) await stage.commit([write("a.md", text)], "direct_user", { by: second });
  await second.close();
  writeFileSync(stage.segment, backup);
  const third = stage.beside();
  await stage.commit([write("b.md", "by the third")], "direct_user", { by: third });
  await stage.commit([write("c.md", "by the first")]);
  await stage.commit([write("b.md", "again")], "direct_user", { by: third });
  const sequences = await stage.look(async (held) => (await held.versions()).map(({ seq }) => seq));
  expect(new Set(sequences).size).toBe(sequences.length);
  expect(readdirSync(stage.journal).filter((name) => name.endsWith(".log"))).toHaveLength(2);
});

test("contents that a packing has left beside its segment go with a purge", async () => {
  await using stage = new FileStage();
  const secret = "a secret ".repeat(90);
  await stage.commit([write("a.md", secret)]);
  await stage.commit([trash("a.md", "trash/a.1.md")]);
  const text = "what fills the journal ".repeat(3_000);
  for (let at = 0; at < 9; at++) await stage.commit([write("filler.md", `${text}${at}`)]);
  const { segment } = stage;
  const whole = readFileSync(segment);
  await stage.reopen();
  // As a crash leaves it before the segment itself is removed; and a packing that was only begun.
  writeFileSync(segment, whole);
  const contents = segment.replace(".log", ".contents.gz");
  copyFileSync(contents, join(stage.journal, "staged-packed"));
  expect(gunzipSync(readFileSync(contents)).toString()).toContain(secret);
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  await stage.reopen();
  const files = readdirSync(stage.journal).map((name) => readFileSync(join(stage.journal, name)));
  for (const bytes of files) expect((bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()).not.toContain(secret);
  expect(readdirSync(stage.journal)).not.toContain("staged-packed");
});

test("packed contents that are damaged go with a purge: nobody can say what is in them", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "a secret ".repeat(90))]);
  await stage.commit([trash("a.md", "trash/a.1.md")]);
  const contents = (await stage.pack()).replace(".log", ".contents");
  truncateSync(contents, readFileSync(contents).length - 9);
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  expect(existsSync(contents)).toBe(false);
});

test.for([
  { name: "another version", change: (text: string) => text.replace(/"hash":"\w+"/, `"hash":"${"a".repeat(64)}"`) },
  { name: "a later version", change: (text: string) => text.replace('"seq":512', '"seq":900') },
])("what an earlier format says of $name raises no trust, before it is converted and after", async ({ change }) => {
  const folder = temporaryFolder();
  execFileSync("tar", ["-xzf", join(import.meta.dirname, "formats/format-3-dropped.tar.gz"), "-C", folder.path]);
  await using stage = new FileStage({
    path: join(folder.path, "data"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  });
  const present = stage.own("history/present.json");
  writeFileSync(present, change(readFileSync(present, "utf8").replaceAll('"direct_user"', '"owner_edit"')));
  const looking = { ...soon(), writes: false, isLookingOnly: true };
  const state = await stage.store.holdUser("alice" as UserId, looking, async ({ history }) => [
    history.state(),
    (await history.originOf("memory", "oldest.md"))?.trust,
  ]);
  expect(state).toEqual([expect.objectContaining({ isBroken: true, unknown: "untrusted_document" }), undefined]);
  await stage.commit([write("oldest.md", "next")]);
  expect(await stage.trustOf("oldest.md")).toBe("untrusted_document");
});

test("a small file that unpacks to far more than a host packs is not unpacked: its versions are missing", async () => {
  await using stage = new FileStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  const packed = await stage.pack();
  await stage.commit([write("a.md", "next")]);
  bomb(packed, 100 * 1024 * 1024);
  await stage.reopen();
  await stage.commit([write("b.md", "goes on")]);
  expect(await stage.look((held) => held.state())).toMatchObject({ isBroken: true });
});

function bomb(file: string, bytes: number): void {
  const whole = Buffer.concat([gunzipSync(readFileSync(file)), Buffer.alloc(bytes, "\n")]);
  writeFileSync(file, gzipSync(whole, { level: 1 }));
}
