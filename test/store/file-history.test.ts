/** The history of files on a disk: across processes, after edits by hand, after damage, and when the trash is emptied. */
import { cpSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { defaultSettings, unstatedFacts } from "../stage/store.ts";
import { alice, HistoryStage } from "./history-stage.ts";
import { remove, trash, write } from "./store-stage.ts";

const texts = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${"the same beginning. ".repeat(40)}${at}${" the same end".repeat(40)}`);

test("versions and contents outlast the process, and a content like the one before takes little room", async () => {
  await using stage = new HistoryStage();
  const all = texts(100);
  for (const text of all) await stage.commit([write("a.md", text)]);
  expect(await stage.contents("a.md")).toEqual(all);
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual(all);
  const { length: bytes } = readFileSync(stage.file("contents-"));
  expect(bytes).toBeLessThan(all.join("").length / 4);
  await stage.commit([write("a.md", "last")], "tool_internal");
  expect(await stage.look((held) => held.head.seq)).toBe(101);
  expect(await stage.look(async (held) => (await held.versions()).map(({ seq }) => seq))).toEqual(
    all.map((_, at) => at + 1).concat(101),
  );
  expect(await stage.findings()).toEqual([]);
});

test("an edit by hand becomes a version of its own, with its content, and its trust is not higher than before", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "from the web"), write("b.md", "mine")], "tool_external");
  writeFileSync(join(stage.user, "memory", "a.md"), "edited by hand");
  writeFileSync(join(stage.user, "memory", "new.md"), "made by hand");
  await stage.commit([write("a.md", "next"), write("new.md", "next")]);
  const versions = await stage.look((held) => held.versions());
  expect(versions.slice(1)).toMatchObject([
    {
      kind: "edited",
      class: "owner_edit",
      tool: null,
      files: [
        { path: "a.md", trust: "tool_external" },
        { path: "new.md", before: null, trust: "owner_edit" },
      ],
    },
    { class: "direct_user", files: [{ path: "a.md", trust: "tool_external" }, { path: "new.md" }] },
  ]);
  expect(await stage.contents("a.md")).toEqual(["from the web", "edited by hand", "next"]);
  await stage.reopen();
  expect(await stage.contents("new.md")).toEqual(["made by hand", "next"]);
});

test("a file that was only read is found as well, and a removal by hand", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "one"), write("b.md", "two")]);
  writeFileSync(join(stage.user, "memory", "a.md"), "edited");
  unlinkSync(join(stage.user, "memory", "b.md"));
  await stage.store.hold(alice, { writes: true, until: performance.now() + 9_000 }, async (held) => {
    await held.reader.bytesOf("memory", "a.md");
    await held.reader.bytesOf("memory", "b.md");
    await held.commit([write("c.md", "three")], held.reader.seen);
  });
  expect(await stage.look(async (held) => (await held.versions())[1])).toMatchObject({
    kind: "edited",
    files: [
      { path: "a.md", trust: "direct_user" },
      { path: "b.md", sha256: null },
    ],
  });
});

test("a file that somebody has put back to an earlier state is told, with the lower trust of the two", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.commit([write("b.md", "b")]);
  const snapshot = join(stage.user, "..", "snapshot");
  cpSync(join(stage.user, "memory"), snapshot, { recursive: true });
  const facts = { ...unstatedFacts(Date.now()), class: "tool_external", trust: "owner_edit" } as const;
  await stage.store.hold(alice, { writes: true, until: performance.now() + 9_000 }, (held) =>
    held.commit([write("a.md", "approved")], [], { facts, kind: "approved" }),
  );
  await stage.reopen();
  cpSync(snapshot, join(stage.user, "memory"), { recursive: true });
  await stage.commit([write("a.md", "next")]);
  expect(stage.notes.join()).toContain("somebody has put files back to an earlier state: a.md");
  const [, , , found, next] = await stage.look((held) => held.versions());
  expect(found).toMatchObject({
    kind: "put back",
    class: "owner_edit",
    files: [{ path: "a.md", trust: "tool_external" }],
  });
  expect(next).toMatchObject({ files: [{ path: "a.md", trust: "tool_external" }] });
});

test("emptying the trash removes the contents of the file, under all names that it had, and nothing else", async () => {
  await using stage = new HistoryStage();
  const [secret, kept] = ["a secret ".repeat(50), "something else ".repeat(50)];
  await stage.commit([write("a.md", secret), write("b.md", `${secret}b`)]);
  await stage.commit([write("a.md", `${secret}, edited`), write("c.md", kept)]);
  await stage.commit([trash("a.md", "trash/a.1.md"), write("a.md", "a new one")]);
  await stage.reopen();
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  await stage.reopen();
  expect(await stage.contents("a.md")).toEqual([null, null, "a new one"]);
  expect(await stage.contents("trash/a.1.md")).toEqual([null, null]);
  expect(await stage.contents("b.md")).toEqual([`${secret}b`]);
  expect(await stage.contents("c.md")).toEqual([kept]);
  expect(await stage.look(async (held) => (await held.versions()).at(-1))).toMatchObject({
    kind: "purged",
    class: "owner_edit",
  });
  expect(readFileSync(stage.file("contents-"), "utf8")).not.toContain(", edited");
  expect(await stage.findings()).toEqual([]);
});

const large = (at: number): string => `${at} `.repeat(300_000);

test("old contents go when there are too many, and versions stay", async () => {
  const small = { ...defaultSettings, history: { daysMax: 90, bytesMax: 2 ** 21 } };
  await using stage = new HistoryStage();
  for (let at = 0; at < 6; at++) {
    await stage.commit([write("a.md", large(at))]);
    await stage.reopen(small);
  }
  await stage.commit([write("a.md", "last")]);
  await stage.reopen(small);
  const contents = await stage.contents("a.md");
  expect(contents).toHaveLength(7);
  expect(contents.slice(0, 2)).toEqual([null, null]);
  expect(contents.at(-1)).toBe("last");
});

const tampering: readonly (readonly [name: string, tamper: (stage: HistoryStage) => void, finding: RegExp])[] = [
  [
    "a changed line",
    (stage) => edit(stage, (lines) => lines.map((line) => line.replace('"r-2"', '"r-9"'))),
    /was changed/,
  ],
  [
    "a raised trust",
    (stage) => edit(stage, (lines) => lines.map((line) => line.replaceAll("tool_external", "owner_edit"))),
    /was changed/,
  ],
  ["a missing line", (stage) => edit(stage, (lines) => lines.filter((_, at) => at !== 1)), /version 2 is missing/],
  ["a line that is none", (stage) => edit(stage, (lines) => ["{}", ...lines.slice(1)]), /version 1 is no version/],
];

function edit(stage: HistoryStage, change: (lines: string[]) => string[]): void {
  const file = stage.file("versions-");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(
    file,
    change(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

test.for(tampering)(
  "the doctor finds %s, and files of which nothing is known then have no trust",
  async ([, tamper, finding]) => {
    await using stage = new HistoryStage();
    for (const [at, of] of (["tool_external", "direct_user", "direct_user"] as const).entries()) {
      const facts = { ...unstatedFacts(Date.now()), class: of, trust: of, run: `r-${at + 1}` };
      await stage.store.hold(alice, { writes: true, until: performance.now() + 9_000 }, (held) =>
        held.commit([write(`${at}.md`, "x")], [], { facts }),
      );
    }
    await stage.reopen();
    tamper(stage);
    expect(await stage.findings()).toEqual([expect.stringMatching(finding)]);
    expect(await stage.look(({ isBroken, unknown }) => [isBroken, unknown])).toEqual([true, "untrusted_document"]);
    expect(stage.notes).toContain("versions of the history are missing or were changed");
  },
);

test("a history that was removed is noticed", async () => {
  await using stage = new HistoryStage();
  await stage.commit([write("a.md", "from the web")], "tool_external");
  await stage.reopen();
  rmSync(stage.history, { recursive: true });
  expect(await stage.findings()).toEqual(["history-broken: it is missing: no file has any trust"]);
  await stage.commit([write("a.md", "next")], "direct_user");
  expect(stage.notes).toContain("versions of the history are missing or were changed");
  expect(await stage.look((held) => held.versions())).toMatchObject([
    { kind: "edited", files: [{ trust: "untrusted_document" }] },
    { files: [{ path: "a.md", trust: "untrusted_document" }] },
  ]);
});

test("a read changes nothing in the history, and a user without a folder has an empty one", async () => {
  await using stage = new HistoryStage();
  expect(await stage.look(({ head, unknown }) => [head.seq, unknown])).toEqual([0, "owner_edit"]);
  await stage.commit([write("a.md", "one")]);
  const looking = await stage.look(async (held) => (await held.versions()).length, { isLookingOnly: true });
  expect(looking).toBe(1);
  await stage.reopen();
  const before = readdirSync(stage.history);
  expect(await stage.look(async (held) => (await held.versions()).length, { isReadOnly: true })).toBe(1);
  expect(readdirSync(stage.history)).toEqual(before);
});
