/**
 * `upkeep.import`: all or nothing, without overwriting, and byte for byte what was exported. One bad file refuses the whole
 * import, and nothing is created.
 */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ImportedFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { readZip, transferLimits } from "../stage/archive.ts";
import { asMemoryFiles, asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, allFiles, bob, engines, openUpkeep, upsert } from "./upkeep-stage.ts";

test("hand-made texts, CRLF, notes in the index and trash that is not text survive a round trip", async () => {
  await using at = await openUpkeep();
  const edited = '---\r\nname: "b"\r\ndescription: >-\r\n  by hand\r\ntype: user\r\nmine: [1, 2]\r\n---\r\nbody\r\n';
  at.put({
    "memory/MEMORY.md": `\uFEFF# Notes of mine\r\n${indexLine("b")}${indexLine("a")}- [trip](trip.md) \u2014 Trip\n`,
    "memory/a.md": entryText("a"),
    "memory/b.md": edited,
    "memory/trip.md": "\uFEFF# Trip\r\n\r\n- Trains\r\n",
    "memory/trash/old/deep.20250101T000000000Z.md": "",
    "memory/trash/odd": "no name that a host gives",
  });
  const bytes = Buffer.from([0x00, 0xff, 0xc3, 0x28]);
  writeFileSync(join(at.home(), "memory/trash/x.20250101T000000000Z.md"), bytes);
  const { files } = await at.upkeep.export(alice);
  const zip = await zippedBytes(files);
  const done = await at.upkeep.import(bob, await readZip(zip));
  expect(done).toMatchObject({ replaced: [], skipped: [], mended: [], refused: [], refusedHidden: 0 });
  expect((await zippedBytes((await at.upkeep.export(bob)).files)).equals(zip)).toBe(true);
  expect(asTexts(files)).toHaveProperty(["trash/x.20250101T000000000Z.md"], bytes.toString("latin1"));
  // A line is not what the file says, before as after, and a text has no front matter.
  expect(await at.upkeep.inspect(bob)).toMatchObject([{ problem: "line-differs" }, { problem: "entry-incomplete" }]);
  expect(await at.runtime.call("ReadUserMemory", { name: "b" }, bob)).toMatchObject({ ok: true });
});

const nothing = { replaced: [], skipped: [], mended: [], leftOut: [], refused: [], refusedHidden: 0 };

test.for(engines)("%s: the plan is what import() does in one change set, and changes nothing", async (engine) => {
  await using at = await openUpkeep(engine);
  const files = asMemoryFiles({ "MEMORY.md": indexLine("a"), "a.md": entryText("a", "secret"), "trash/x": "secret" });
  const plan = await at.upkeep.planImport(alice, files);
  expect(await allFiles(at)).toEqual({});
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  const created = ["memory/MEMORY.md", "memory/a.md"];
  expect(plan).toEqual({ ...nothing, created, trashed: ["memory/trash/x"], bytes });
  expect(await at.upkeep.import({ ...alice, callId: "import-1" }, files)).toEqual(plan);
  const before = await allFiles(at);
  const again = { ...nothing, created: [], trashed: [], bytes: 0, skipped: [...created, "memory/trash/x"] };
  expect(await at.upkeep.planImport(alice, files)).toEqual(again);
  expect(await at.upkeep.import(alice, files)).toEqual(again);
  expect(await allFiles(at)).toEqual(before);
  const records = at.records();
  const staged = records.filter((record) => record.kind === "staged");
  expect(staged).toMatchObject([{ callId: "import-1", userId: "alice", tool: null }]);
  expect(staged[0]?.writes.map(({ path }) => path)).toEqual(["MEMORY.md", "a.md", "trash/x"]);
  const ofImport = records.findLast((record) => "callId" in record && record.callId === "import-1");
  expect(ofImport).toMatchObject({ kind: "upkeep", action: "import", code: null });
  expect(JSON.stringify(records)).not.toContain("secret");
});

test.for(engines)(
  "%s: entries are added to a memory; its index is kept and lists them; existing entries stay",
  async (engine) => {
    await using at = await openUpkeep(engine);
    const index = `# mine\n${indexLine("same")}`;
    await at.upkeep.import(alice, asMemoryFiles({ "MEMORY.md": index, "same.md": entryText("same") }));
    const files = asMemoryFiles({
      "MEMORY.md": `# yours\n${indexLine("new")}${indexLine("same")}`,
      "new.md": entryText("new"),
      "same.md": entryText("same"),
    });
    expect(await at.upkeep.import(alice, files)).toMatchObject({
      created: ["memory/new.md"],
      skipped: ["memory/MEMORY.md", "memory/same.md"],
      mended: [],
    });
    const lines = (await allFiles(at))["memory/MEMORY.md"];
    expect(Buffer.from(lines ?? "", "latin1").toString()).toBe(index + indexLine("new"));
  },
);

test("an import that adds nothing says only what it has really mended", async () => {
  await using at = await openUpkeep();
  at.put({ "memory/a.md": entryText("a") });
  const files = asMemoryFiles({ "a.md": entryText("a") });
  const told = { created: [], skipped: ["memory/a.md"], mended: [{ problem: "index-missing" }] };
  expect(await at.upkeep.planImport(alice, files)).toMatchObject(told);
  expect(await at.upkeep.import(alice, files)).toMatchObject(told);
  expect(at.files()["memory/MEMORY.md"]).toBe(indexLine("a"));
  expect(await at.upkeep.import(alice, files)).toMatchObject({ ...told, mended: [] });
});

const numbered = (count: number): string => `trash/a.20250101T000000000Z${count === 1 ? "" : `-${count}`}.md`;

test("a file in the trash is never overwritten: a new one gets a free name, of a bounded number that is tried", async () => {
  await using at = await openUpkeep();
  const { trashNamesTriedMax: most } = transferLimits;
  const taken = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, each) => [`memory/${numbered(each + 1)}`, `mine ${each}`]));
  at.put(taken(most - 1));
  at.put(taken(most), "bob");
  const files = asMemoryFiles({ [numbered(1)]: "yours" });
  expect(await at.upkeep.import(alice, files)).toMatchObject({ trashed: [`memory/${numbered(most)}`] });
  expect(await at.upkeep.import(alice, files)).toMatchObject({ trashed: [], skipped: [`memory/${numbered(1)}`] });
  expect(at.files()).toMatchObject(taken(most - 1));
  const reason = `another file has its name in the trash, and none of the ${most} that an import tries is free`;
  const refusedAt = (path: string) => ({ refused: [{ path: `memory/${path}`, code: "NAME_CONFLICT", reason }] });
  expect(await at.upkeep.planImport(bob, files)).toMatchObject(refusedAt(numbered(1)));
  // A path of the maximum length has no room for a number.
  const long = `trash/${"a".repeat(226)}.20250101T000000000Z.md`;
  await at.upkeep.import(bob, asMemoryFiles({ [long]: "mine" }));
  expect(await at.upkeep.planImport(bob, asMemoryFiles({ [long]: "yours" }))).toMatchObject(refusedAt(long));
  // An existing file with the same content is found among all of them.
  const last = asMemoryFiles({ [numbered(1)]: `mine ${most - 1}` });
  expect(await at.upkeep.import(bob, last)).toMatchObject({ trashed: [], skipped: [`memory/${numbered(1)}`] });
  // A name that no host gives has no second one.
  at.put({ "memory/trash/odd": "mine" }, "bob");
  const odd = at.upkeep.import(bob, asMemoryFiles({ "trash/odd": "yours" }));
  await expect(odd).rejects.toMatchObject({ code: "NAME_CONFLICT" });
});

test("no file in the trash blocks another one's folder, and the memory stays usable", async () => {
  await using at = await openUpkeep();
  const name = "trash/a.20250101T000000000Z";
  await at.upkeep.import(alice, asMemoryFiles({ [name]: "mine" }));
  const nested = `${name}-2/y.20250101T000000000Z.md`;
  await at.upkeep.import(alice, asMemoryFiles({ [name]: "yours", [nested]: "theirs" }));
  expect(Object.values(at.files()).toSorted()).toEqual(["mine", "theirs", "yours"]);
  expect(at.files()[`memory/${nested}`]).toBe("theirs");
  expect(await at.upkeep.listTrash(alice)).toHaveLength(3);
});

const stage = await openUpkeep();
afterAll(() => stage[Symbol.asyncDispose]());
const { upkeep } = stage;
let users = 0;
const newUser = () => ({ userId: `user-${(users += 1)}` });

test("an entry's file is what a tool can write as one, or a note that a path can name", async () => {
  const odd = ["a", "A-_9", "x".repeat(100), "con", "COM0", "com10", "lpt9", "memory", "Memory"];
  const other = ["nul", "aux", "prn", "a b", "-", "_", "\u00e9", "__proto__", "constructor", ""];
  // People's notes, which are entries under another name.
  const notes = ["x".repeat(101), "a.b", "a%20b", "%C3%A9", "sub/a"];
  for (const name of [...odd, ...other, ...notes]) {
    const { ok } = await stage.runtime.call("UpdateUserMemory", upsert(name, "", "d"), newUser());
    const { refused } = await upkeep.planImport(newUser(), asMemoryFiles({ [`${name}.md`]: entryText("x") }));
    const isEntry = ok || notes.includes(name);
    expect({ name, ok, isEntry: refused.length === 0 }).toEqual({
      name,
      ok: isEntry && !notes.includes(name),
      isEntry,
    });
  }
});

const ofName = "it is not MEMORY.md, a note, or below trash/";

test.for([
  ["notes.txt", "INPUT_INVALID", `${ofName}; to make it an entry, rename it to notes.md`],
  ["sub/a.txt", "INPUT_INVALID", `${ofName}; to make it an entry, rename it to a.md`],
  ["memory.md", "NAME_RESERVED", "its name is reserved"],
  ["trash/trash/a.20250101T000000000Z.md", "INPUT_INVALID", ""],
] as const)("%j is left out with %s, and refused if nothing else is imported", async ([path, code, says]) => {
  const ctx = newUser();
  const alone = asMemoryFiles({ [path]: entryText("x") });
  const told = { path: `memory/${path}`, code, reason: expect.stringContaining(says) as string };
  expect(await upkeep.planImport(ctx, alone)).toMatchObject({ leftOut: [], refused: [told] });
  await expect(upkeep.import(ctx, alone)).rejects.toMatchObject({ code });
  expect(stage.users()).not.toContain(ctx.userId);
  const files = [...asMemoryFiles({ "MEMORY.md": indexLine("a"), "a.md": entryText("a") }), ...alone];
  const plan = await upkeep.planImport(ctx, files);
  expect(plan).toMatchObject({ leftOut: [told], refused: [] });
  expect(await upkeep.import(ctx, files)).toEqual(plan);
  expect(Object.keys(stage.files(ctx.userId))).toEqual(["memory/MEMORY.md", "memory/a.md"]);
});

test.for([
  ["../b.md", "INPUT_INVALID"],
  [".memcell/journal", "INPUT_INVALID"],
  ["\u00e9.md", "INPUT_INVALID"],
  ["a.md", "NAME_CONFLICT"],
  ["there.md", "NAME_CONFLICT"],
  ["trash/one/two", "NAME_CONFLICT"],
] as const)("%j refuses the whole import, with %s", async ([path, code]) => {
  const ctx = newUser();
  const there = { "memory/There.md": entryText("There"), "memory/MEMORY.md": indexLine("There") };
  stage.put(there, ctx.userId);
  const others = asMemoryFiles({ "MEMORY.md": "", "a.md": entryText("a"), "trash/one": "" });
  const files = [...others, ...asMemoryFiles({ [path]: entryText("x") })];
  for (const each of path === "there.md" ? [ctx] : [newUser(), ctx]) {
    const { refused } = await upkeep.planImport(each, files);
    expect(refused.map((refusal) => refusal.code)).toContain(code);
    await expect(upkeep.import(each, files)).rejects.toMatchObject({ name: "ToolError" });
    expect(stage.files(each.userId)).toEqual(each === ctx ? there : {});
  }
});

test.for([
  ["front matter that is not closed", Buffer.from("---\njust text"), "ENTRY_UNREADABLE"],
  ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe]), "ENTRY_UNREADABLE"],
  ["a body that no tool could read", Buffer.from(entryText("x", "x".repeat(65_537))), "QUOTA_EXCEEDED"],
  ["over 2 MiB", Buffer.alloc(2 ** 21 + 1, "x"), "QUOTA_EXCEEDED"],
] as const)("an entry with %s refuses all scopes and creates nothing", async ([, content, code]) => {
  const ctx = newUser();
  const others = asMemoryFiles({ "a.md": entryText("a"), "MEMORY.md": indexLine("a") });
  const ofJournal = asMemoryFiles({ "MEMORY.md": "### k\n\ntext\n\n" }, "journal");
  const files = [...others, ...ofJournal, { scope: "memory", path: "x.md", content }];
  expect((await upkeep.planImport(ctx, files)).refused).toMatchObject([{ path: "memory/x.md", code }]);
  await expect(upkeep.import(ctx, files, { replace: true })).rejects.toMatchObject({ code });
  expect(stage.users()).not.toContain(ctx.userId);
});

test("more than a memory can hold is refused before any of it is examined", async () => {
  const ctx = newUser();
  const content = Buffer.alloc(2 ** 21);
  const large = Array.from({ length: 33 }, (_, at) => ({ scope: "memory", path: `trash/${at}`, content }));
  await expect(upkeep.import(ctx, large)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  const many = Array.from({ length: 20_001 }, (_, at) => {
    return { scope: "journal", path: `${at % 100}/${at}.md`, content: Buffer.alloc(0) };
  });
  await expect(upkeep.import(ctx, many)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: 'Cannot import the memory: its scope "journal" has 20001 files, at most 20000 allowed',
  });
  const trash = Array.from({ length: 60_001 }, (_, at) => ({
    scope: "memory",
    path: `trash/${at}`,
    content: Buffer.alloc(0),
  }));
  await expect(upkeep.import(ctx, trash)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: 'Cannot import the memory: its scope "memory" has 60001 files with its trash, at most 60000 allowed',
  });
  expect(stage.users()).not.toContain(ctx.userId);
  stage.put({ "memory/trash/mine": "x" }, ctx.userId);
  await expect(upkeep.import(ctx, large.slice(0, 32))).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  expect(stage.files(ctx.userId)).toEqual({ "memory/trash/mine": "x" });
  const path = "a.md";
  for (const file of [{ path: 3 }, { path, content }, { scope: "../x", path, content }, { scope: "memory", path }]) {
    await expect(async () => upkeep.import(ctx, [file] as never)).rejects.toThrow(TypeError);
  }
});

test("files that are read later are read scope by scope, and only if nothing else refuses them", async () => {
  const ctx = newUser();
  const read: string[] = [];
  const later = (scope: string, path: string, text: string, bytes = Buffer.byteLength(text)): ImportedFile => ({
    scope,
    path,
    bytes,
    trust: "tool_external",
    read: async () => {
      read.push(`${scope}/${path}`);
      return Buffer.from(text);
    },
  });
  const memory = [later("memory", "a.md", entryText("a")), later("memory", "MEMORY.md", indexLine("a"))];
  const journal = later("journal", "MEMORY.md", "### k\n\ntext\n\n");
  const plan = await upkeep.planImport(ctx, [...memory, journal]);
  expect(read).toEqual(["journal/MEMORY.md", "memory/a.md", "memory/MEMORY.md"]);
  for (const [other, code] of [
    [later("memory", "b.md", "", 2 ** 21 + 1), "QUOTA_EXCEEDED"],
    [later("memory", "../b.md", ""), "INPUT_INVALID"],
    [later("other", "b.md", ""), "TOOL_UNKNOWN"],
  ] as const) {
    read.length = 0;
    const refused = upkeep.import(ctx, code === "TOOL_UNKNOWN" ? [other] : [...memory, journal, other]);
    await expect(refused).rejects.toMatchObject({ code });
    expect(read.filter((path) => !path.startsWith("journal/"))).toEqual([]);
  }
  const other = { ...later("memory", "b.md", "text", 5), read: async () => "a text" } as unknown as ImportedFile;
  for (const [file, said] of [
    [later("memory", "b.md", "text", 5), "4 bytes"],
    [other, '"a text"'],
  ] as const) {
    await expect(upkeep.import(ctx, [journal, file])).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: `Cannot import the memory: "memory/b.md": it is read as ${said}; expected 5 bytes`,
    });
  }
  expect(stage.users()).not.toContain(ctx.userId);
  expect(await upkeep.import(ctx, [...memory, journal])).toEqual(plan);
  expect(stage.files(ctx.userId)).toMatchObject({ "memory/a.md": entryText("a") });
  const { files } = await upkeep.export(ctx);
  expect(new Set(files.map(({ trust }) => trust))).toEqual(new Set(["tool_external"]));
  const undefinedToo = { ...later("memory", "c.md", entryText("c")), content: undefined } as unknown as ImportedFile;
  expect(await upkeep.import(ctx, [undefinedToo])).toMatchObject({ created: ["memory/c.md"] });
  const neither = { scope: "memory", path: "a.md", bytes: 1 };
  for (const file of [neither, { ...neither, read: () => {}, content: Buffer.from("a") }]) {
    await expect(async () => upkeep.import(ctx, [file] as never)).rejects.toThrow(TypeError);
  }
});

test("a link in a file's place refuses the import, and its target stays unchanged", async () => {
  const [owner, other] = [newUser(), newUser()];
  stage.put({ "memory/a.md": entryText("a") }, owner.userId);
  stage.put({ "memory/b.md": entryText("b") }, other.userId);
  const secret = join(stage.home(owner.userId), "memory/a.md");
  symlinkSync(secret, join(stage.home(other.userId), "memory/a.md"));
  const files = asMemoryFiles({ "a.md": entryText("a", "yours"), "c.md": entryText("c") });
  await expect(upkeep.import(other, files, { replace: true })).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  expect(readFileSync(secret, "utf8")).toBe(entryText("a"));
  expect(Object.keys(stage.files(other.userId))).toEqual(["memory/b.md"]);
});

const well = { findings: [], findingsHidden: 0 };

test.for([
  [
    "refuses a file",
    { ...well, refused: [{ path: "c.md", code: "NAME_CONFLICT", reason: "it is late" }] },
    "NAME_CONFLICT",
  ],
  ["answers with something else", { x: 1 }, "OUTPUT_INVALID"],
] as const)("nothing is committed if a plugin %s only when it mends", async ([, mending, code]) => {
  using folder = temporaryFolder();
  const inspect = { role: "inspect", answer: well, mendingAnswer: mending } as const;
  const plugins = [writeScriptedPlugin(folder.path, "inspector", { Inspect: inspect })];
  await using at = await openUpkeep("files", { plugins, policy: policyFor(plugins) });
  const files = asMemoryFiles({ "c.md": "x" }, "notes");
  const told: unknown = await at.upkeep.planImport(bob, files).catch((error: unknown) => error);
  expect(told).toMatchObject(code === "NAME_CONFLICT" ? { refused: [{ path: "notes/c.md", code }] } : { code });
  await expect(at.upkeep.import(bob, files)).rejects.toMatchObject({ code });
  expect(at.users()).toEqual([]);
});
