/** `runtime.upkeep.inspect` and `mend`: finds, reports and repairs what people or crashes have left behind. */
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Finding } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const epochMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const stamp = "20260102T030405000Z";
const fact = (name: string, body = ""): string =>
  `---\nname: ${name}\ndescription: about ${name}\ntype: user\ncreated: '2025-01-01T00:00:00.000Z'\n---\n${body}`;
const line = (name: string): string => `- [${name}](${name}.md) \u2014 about ${name}\n`;

interface Case {
  readonly name: string;
  readonly before: Record<string, string>;
  /** Each as `path problem`. */
  readonly found: readonly string[];
  readonly after: Record<string, string>;
}

const cases: Case[] = [
  {
    name: "a folder without problems",
    before: { "memory/MEMORY.md": `my notes\n${line("a")}`, "memory/a.md": fact("a") },
    found: [],
    after: { "memory/MEMORY.md": `my notes\n${line("a")}`, "memory/a.md": fact("a") },
  },
  {
    name: "a line without an entry",
    before: { "memory/MEMORY.md": line("a") + line("ghost"), "memory/a.md": fact("a") },
    found: ["memory/MEMORY.md line-without-entry"],
    after: {
      "memory/MEMORY.md": line("a"),
      "memory/a.md": fact("a"),
      [`memory/trash/MEMORY.${stamp}.md`]: line("a") + line("ghost"),
    },
  },
  {
    name: "a repeated line",
    before: { "memory/MEMORY.md": `${line("a")}- [a](a.md) \u2014 other words\n`, "memory/a.md": fact("a") },
    found: ["memory/MEMORY.md line-repeated"],
    after: {
      "memory/MEMORY.md": line("a"),
      "memory/a.md": fact("a"),
      [`memory/trash/MEMORY.${stamp}.md`]: `${line("a")}- [a](a.md) \u2014 other words\n`,
    },
  },
  {
    name: "an entry without a line",
    before: { "memory/MEMORY.md": `mine\n${line("a")}`, "memory/a.md": fact("a"), "memory/b.md": fact("b") },
    found: ["memory/b.md entry-without-line"],
    after: {
      "memory/MEMORY.md": `mine\n${line("a")}${line("b")}`,
      "memory/a.md": fact("a"),
      "memory/b.md": fact("b"),
    },
  },
  {
    name: "no index",
    before: { "memory/a.md": fact("a"), "memory/b.md": fact("b") },
    found: ["memory/MEMORY.md index-missing"],
    after: { "memory/MEMORY.md": line("a") + line("b"), "memory/a.md": fact("a"), "memory/b.md": fact("b") },
  },
  {
    name: "a file without front matter",
    before: { "memory/MEMORY.md": "", "memory/plain.md": "\nA thought.\nMore of it" },
    found: ["memory/plain.md entry-incomplete", "memory/plain.md entry-without-line"],
    after: {
      "memory/MEMORY.md": "- [plain](plain.md) \u2014 A thought.\n",
      "memory/plain.md":
        "---\nname: plain\ndescription: A thought.\ntype: reference\ncreated: '2026-01-02T03:04:05.000Z'\n" +
        "updated: '2026-01-02T03:04:05.000Z'\n---\n\nA thought.\nMore of it",
      [`memory/trash/plain.${stamp}.md`]: "\nA thought.\nMore of it",
    },
  },
  {
    name: "front matter without a type",
    before: {
      "memory/MEMORY.md": "- [half](half.md) \u2014 listed so\n",
      "memory/half.md": "---\ncreated: long ago\nmine: 1\n---\nbody\r\n",
    },
    found: ["memory/MEMORY.md line-differs", "memory/half.md entry-incomplete"],
    after: {
      "memory/MEMORY.md": "- [half](half.md) \u2014 body\n",
      [`memory/trash/MEMORY.${stamp}.md`]: "- [half](half.md) \u2014 listed so\n",
      "memory/half.md":
        "---\nname: half\ndescription: body\ntype: reference\ncreated: long ago\n" +
        "updated: '2026-01-02T03:04:05.000Z'\nmine: 1\n---\nbody\r\n",
      [`memory/trash/half.${stamp}.md`]: "---\ncreated: long ago\nmine: 1\n---\nbody\r\n",
    },
  },
];

test.for(cases)("$name", async ({ before, found, after }) => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: before });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, clock: () => epochMs });
  const inspected = await runtime.upkeep.inspect(alice);
  expect(inspected.map(inShort)).toEqual(found);
  expect(readUserFiles(folder.path, "alice")).toEqual(before);
  expect(await runtime.upkeep.mend(alice)).toEqual(inspected);
  expect(readUserFiles(folder.path, "alice")).toEqual(after);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(await runtime.upkeep.mend(alice)).toEqual([]);
});

test("moves a file that is not text to the trash byte for byte, and an index likewise", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": fact("a") } });
  const memory = join(userFolder(folder.path, "alice"), "memory");
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  for (const name of ["b.md", "MEMORY.md"]) writeFileSync(join(memory, name), bytes);
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, clock: () => epochMs });
  const found = (await runtime.upkeep.mend(alice)).map(inShort);
  expect(found).toEqual(["memory/MEMORY.md index-unreadable", "memory/b.md entry-unreadable"]);
  for (const name of ["b", "MEMORY"]) expect(readFileSync(join(memory, `trash/${name}.${stamp}.md`))).toEqual(bytes);
  expect(readFileSync(join(memory, "MEMORY.md"), "utf8")).toBe(line("a"));
});

test("reports what only a person can repair, and leaves it alone", async () => {
  using folder = temporaryFolder();
  const files = {
    "memory/MEMORY.md": line("A") + line("a") + line("big"),
    "memory/A.md": fact("A"),
    "memory/a.md": fact("a"),
    "memory/big.md": fact("big", "x".repeat(70_000)),
  };
  writeUserFiles(folder.path, { alice: files });
  const memory = join(userFolder(folder.path, "alice"), "memory");
  symlinkSync("a.md", join(memory, "link.md"));
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const found = await runtime.upkeep.inspect(alice);
  expect(found.map(inShort)).toEqual([
    "memory/link.md not-a-plain-file",
    "memory/a.md names-differ-by-case",
    "memory/big.md entry-too-large",
  ]);
  expect(found.map(({ remedy }) => remedy)).toEqual([null, null, null]);
  expect(await runtime.upkeep.mend(alice)).toEqual([]);
  expect(readdirSync(memory).toSorted()).toEqual(["A.md", "MEMORY.md", "a.md", "big.md", "link.md"]);
});

test("names files and folders that no tool finds because of their names, in every scope, and leaves them", async () => {
  using folder = temporaryFolder();
  const deep = `${"d".repeat(200)}/${"e".repeat(60)}.md`;
  const files = {
    "memory/MEMORY.md": line("a"),
    "memory/a.md": fact("a"),
    "memory/Über.md": fact("b"),
    "memory/sub/c.md": fact("c"),
    "memory/notes.txt": "d",
    "memory/.DS_Store": "of another program",
    "memory/.git/config": "of another program",
    "journal/a b.md": "x",
    [`journal/${deep}`]: "x",
    "runs/My Notes/x.md": "x",
    "of-no-plugin/x y": "x",
  };
  writeUserFiles(folder.path, { alice: files });
  const store = join(folder.path, "stores", storeIdOf("alice"));
  for (const below of ["entries/My Notes", ".memcell"]) mkdirSync(join(store, below), { recursive: true });
  writeFileSync(join(store, "entries/My Notes/Über panda.md"), "x");
  writeFileSync(join(store, ".memcell/staged-0"), "left over");
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const found = await runtime.upkeep.inspect(alice);
  expect(found.map(inShort).toSorted()).toEqual(
    [
      "memory/Über.md name-not-allowed",
      "memory/notes.txt file-unused",
      "memory/sub/c.md file-unused",
      "journal/a b.md name-not-allowed",
      `journal/${deep} name-not-allowed`,
      "runs/My Notes name-not-allowed",
      "of-no-plugin/x y name-not-allowed",
      "store/My Notes name-not-allowed",
      `stores/${storeIdOf("alice")}/.memcell/owner owner-missing`,
      `stores/${storeIdOf("alice")}/.memcell/staged-0 temporary-file`,
    ].toSorted(),
  );
  const ofNames = found.filter(({ remedy }) => remedy === null);
  expect(ofNames).toHaveLength(found.length - 2);
  await runtime.upkeep.mend(alice);
  expect(await runtime.upkeep.inspect(alice)).toEqual(ofNames);
  expect(readUserFiles(folder.path, "alice")).toEqual(files);
});

test("finds and removes what a killed process has left in the host's own folder", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const upsert = { action: "upsert", name: "a", type: "user", description: "d", body: "" };
  await runtime.call("UpdateUserMemory", upsert, alice);
  const own = join(userFolder(folder.path, "alice"), ".memcell");
  writeFileSync(join(own, "staged-7"), "half a fi");
  writeFileSync(join(own, "journal-damaged-1"), "not a WAL");
  const found = await runtime.upkeep.inspect(alice);
  expect(found.map(inShort).toSorted()).toEqual([
    ".memcell/journal-damaged-1 wal-damaged",
    ".memcell/staged-7 temporary-file",
  ]);
  expect((await runtime.upkeep.mend(alice)).map(inShort)).toEqual([".memcell/staged-7 temporary-file"]);
  expect(readdirSync(own).toSorted().join(" ")).toBe("history journal journal-damaged-1 lock owner turnstile");
});

test("a scope's folder named like the host's own hides nothing from the doctor", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": fact("a"), "memory/sub/b.md": "" } });
  const memory = join(userFolder(folder.path, "alice"), "memory");
  for (const place of [memory, join(memory, "sub")]) symlinkSync("/etc", join(place, ".memcell"));
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  expect((await runtime.upkeep.inspect(alice)).map(inShort)).toEqual(
    expect.arrayContaining(["memory/.memcell not-a-plain-file", "memory/sub/.memcell not-a-plain-file"]),
  );
});

test("users() lists everyone who has a folder, whatever their ids look like", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  expect(await runtime.upkeep.users()).toEqual([]);
  const ids = ["alice", "Ünï cödé", "con", "%41", "x".repeat(128), "漢".repeat(42)];
  const upsert = { action: "upsert", name: "a", type: "user", description: "d", body: "" };
  for (const userId of ids) await runtime.call("UpdateUserMemory", upsert, { userId });
  writeUserFiles(folder.path, { "by hand": { "memory/a.md": fact("a") } });
  mkdirSync(join(folder.path, "users", "no%user"));
  symlinkSync("alice", join(folder.path, "users", "link"));
  expect(await runtime.upkeep.users()).toEqual(["by hand", ...ids].toSorted());
});

test("repair and restore tools cannot be called as tools, and a closed runtime refuses both operations", async () => {
  using folder = temporaryFolder();
  const runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  for (const tool of ["InspectMemory", "RestoreEntry"]) {
    expect(await runtime.call(tool, {}, alice)).toMatchObject({ ok: false, error: { code: "TOOL_UNKNOWN" } });
  }
  await expect(runtime.upkeep.inspect({ userId: ".." })).rejects.toMatchObject({ code: "USER_INVALID" });
  await runtime.close();
  await expect(runtime.upkeep.mend(alice)).rejects.toMatchObject({ code: "CLOSED" });
});

const inShort = ({ path, problem }: Finding): string => `${path} ${problem}`;
