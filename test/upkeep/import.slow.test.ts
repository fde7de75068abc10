/** `upkeep.import`: all or nothing, without overwriting, and byte for byte what was exported. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { readZip, transferLimits } from "../stage/archive.ts";
import { asMemoryFiles, asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";

const alice = { userId: "alice" };
const bob = { userId: "bob" };
const start = Date.UTC(2026, 0, 1);

async function withRuntime(work: (runtime: Runtime, dataDir: string) => Promise<void>) {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, clock: () => start });
  await work(runtime, folder.path);
}

/** Exports, passes through a zip file, imports for another user and exports again: the bytes must be the same. */
async function goesRound(runtime: Runtime): Promise<Record<string, string>> {
  const { files } = await runtime.upkeep.export(alice);
  const zip = await zippedBytes(files);
  const done = await runtime.upkeep.import(bob, await readZip(zip));
  expect(done).toMatchObject({ replaced: [], skipped: [], mended: [], refused: [], refusedHidden: 0 });
  const again = await runtime.upkeep.export(bob);
  expect((await zippedBytes(again.files)).equals(zip)).toBe(true);
  return asTexts(again.files);
}

test("survives a round trip: hand-edited front matter, CRLF, notes in the index, trash that is not text", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const edited = '---\r\nname: "b"\r\ndescription: >-\r\n  by hand\r\ntype: user\r\nmine: [1, 2]\r\n---\r\nbody\r\n';
    writeUserFiles(dataDir, {
      alice: {
        "memory/MEMORY.md": `\uFEFF# Notes of mine\r\n${indexLine("b")}${indexLine("a")}`,
        "memory/a.md": entryText("a"),
        "memory/b.md": edited,
        "memory/trash/old/deep.20250101T000000000Z.md": "",
        "memory/trash/odd": "no name that a host gives",
      },
    });
    const bytes = Buffer.from([0x00, 0xff, 0xc3, 0x28]);
    writeFileSync(join(userFolder(dataDir, "alice"), "memory", "trash", "x.20250101T000000000Z.md"), bytes);
    const texts = await goesRound(runtime);
    expect(Object.keys(texts)).toHaveLength(6);
    expect(texts["trash/x.20250101T000000000Z.md"]).toBe(bytes.toString("latin1"));
    // Its line is not what the file says, before as after.
    expect(await runtime.upkeep.inspect(bob)).toMatchObject([{ problem: "line-differs" }]);
    expect(await runtime.call("ReadUserMemory", { name: "b" }, bob)).toMatchObject({ ok: true });
  });
});

test("a memory of 1,000 entries survives a round trip", { timeout: 60_000 }, async () => {
  await withRuntime(async (runtime, dataDir) => {
    const names = Array.from({ length: 1000 }, (_, at) => `entry-${at}`);
    const files = Object.fromEntries(names.map((name) => [`memory/${name}.md`, entryText(name)]));
    writeUserFiles(dataDir, { alice: { ...files, "memory/MEMORY.md": names.map(indexLine).join("") } });
    expect(Object.keys(await goesRound(runtime))).toHaveLength(1001);
    const more = asMemoryFiles({ "one-more.md": entryText("one-more") });
    await expect(runtime.upkeep.import(bob, more)).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: 'Cannot import the memory: "memory": the user would have 1001 entries, at most 1000 allowed',
    });
  });
});

test("planImport() returns what import() does, and changes nothing", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const files = asMemoryFiles({ "MEMORY.md": indexLine("a"), "a.md": entryText("a"), "trash/x": "x" });
    const plan = await runtime.upkeep.planImport(alice, files);
    expect(userFolderNames(dataDir)).toEqual([]);
    const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
    const nothing = { replaced: [], skipped: [], mended: [], leftOut: [], refused: [], refusedHidden: 0 };
    expect(plan).toEqual({
      created: ["memory/MEMORY.md", "memory/a.md"],
      trashed: ["memory/trash/x"],
      bytes,
      ...nothing,
    });
    expect(await runtime.upkeep.import(alice, files)).toEqual(plan);
    const again = {
      created: [],
      trashed: [],
      bytes: 0,
      ...nothing,
      skipped: ["memory/MEMORY.md", "memory/a.md", "memory/trash/x"],
    };
    expect(await runtime.upkeep.planImport(alice, files)).toEqual(again);
    const before = readUserFiles(dataDir, "alice");
    expect(await runtime.upkeep.import(alice, files)).toEqual(again);
    expect(readUserFiles(dataDir, "alice")).toEqual(before);
  });
});

test("adds entries to a memory; its index is kept and lists them; existing entries stay", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const index = `# mine\n${indexLine("same")}`;
    writeUserFiles(dataDir, { bob: { "memory/MEMORY.md": index, "memory/same.md": entryText("same") } });
    const files = asMemoryFiles({
      "MEMORY.md": `# yours\n${indexLine("new")}${indexLine("same")}`,
      "new.md": entryText("new"),
      "same.md": entryText("same"),
    });
    const done = await runtime.upkeep.import(bob, files);
    expect(done).toMatchObject({
      created: ["memory/new.md"],
      skipped: ["memory/MEMORY.md", "memory/same.md"],
      mended: [],
    });
    expect(readUserFiles(dataDir, "bob")).toEqual({
      "memory/MEMORY.md": index + indexLine("new"),
      "memory/new.md": entryText("new"),
      "memory/same.md": entryText("same"),
    });
  });
});

test("an entry with other content refuses the whole import; with replace, the old one goes to the trash", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const mine = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a", "mine") };
    writeUserFiles(dataDir, { bob: mine });
    const files = asMemoryFiles({ "a.md": entryText("a", "yours"), "new.md": entryText("new") });
    const refusal = {
      path: "memory/a.md",
      code: "NAME_CONFLICT",
      reason: "an entry of this name is there with other content",
    };
    expect(await runtime.upkeep.planImport(bob, files)).toMatchObject({ refused: [refusal] });
    await expect(runtime.upkeep.import(bob, files)).rejects.toMatchObject({
      code: "NAME_CONFLICT",
      message: 'Cannot import the memory: "memory/a.md": an entry of this name is there with other content',
    });
    expect(readUserFiles(dataDir, "bob")).toEqual(mine);
    expect(await runtime.upkeep.import(bob, files, { replace: true })).toMatchObject({ replaced: ["memory/a.md"] });
    expect(readUserFiles(dataDir, "bob")).toEqual({
      "memory/MEMORY.md": indexLine("a") + indexLine("new"),
      "memory/a.md": entryText("a", "yours"),
      "memory/new.md": entryText("new"),
      "memory/trash/a.20260101T000000000Z.md": entryText("a", "mine"),
    });
  });
});

const numbered = (count: number): string => `trash/a.20250101T000000000Z${count === 1 ? "" : `-${count}`}.md`;

test("tries a bounded number of names in the trash, so a full trash does not delay the user", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const { trashNamesTriedMax: most } = transferLimits;
    const taken = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`memory/${numbered(at + 1)}`, `mine ${at}`]));
    writeUserFiles(dataDir, { alice: taken(most - 1), bob: taken(most) });
    const files = asMemoryFiles({ [numbered(1)]: "yours" });
    expect(await runtime.upkeep.import(alice, files)).toMatchObject({ trashed: [`memory/${numbered(most)}`] });
    const reason = "another file has its name in the trash, and none of the 64 that an import tries is free";
    expect(await runtime.upkeep.planImport(bob, files)).toMatchObject({
      refused: [{ path: `memory/${numbered(1)}`, code: "NAME_CONFLICT", reason }],
    });
    // A path of the maximum length has no room for a number.
    const long = `trash/${"a".repeat(226)}.20250101T000000000Z.md`;
    await runtime.upkeep.import(bob, asMemoryFiles({ [long]: "mine" }));
    expect(await runtime.upkeep.planImport(bob, asMemoryFiles({ [long]: "yours" }))).toMatchObject({
      refused: [{ path: `memory/${long}`, code: "NAME_CONFLICT", reason }],
    });
    // An existing file with the same content is found among all of them.
    const last = asMemoryFiles({ [numbered(1)]: `mine ${most - 1}` });
    expect(await runtime.upkeep.import(bob, last)).toMatchObject({ trashed: [], skipped: [`memory/${numbered(1)}`] });
  });
});

test("never overwrites a file in the trash: the new one gets a free name, and the same one the next time", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const name = "trash/a.20250101T000000000Z.md";
    writeUserFiles(dataDir, { bob: { [`memory/${name}`]: "mine", "memory/trash/odd": "mine" } });
    const files = asMemoryFiles({ [name]: "yours" });
    expect(await runtime.upkeep.import(bob, files)).toMatchObject({
      trashed: ["memory/trash/a.20250101T000000000Z-2.md"],
    });
    expect(await runtime.upkeep.import(bob, files)).toMatchObject({ trashed: [], skipped: [`memory/${name}`] });
    await expect(runtime.upkeep.import(bob, asMemoryFiles({ "trash/odd": "yours" }))).rejects.toMatchObject({
      code: "NAME_CONFLICT",
    });
    expect(readUserFiles(dataDir, "bob")).toEqual({
      "memory/trash/a.20250101T000000000Z-2.md": "yours",
      [`memory/${name}`]: "mine",
      "memory/trash/odd": "mine",
    });
  });
});

test("repairs an index that lists a missing entry, and the plan says so", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const files = asMemoryFiles({ "MEMORY.md": indexLine("gone") + indexLine("a"), "a.md": entryText("a") });
    const plan = await runtime.upkeep.planImport(alice, files);
    expect(plan.mended).toMatchObject([{ problem: "line-without-entry", path: "memory/MEMORY.md" }]);
    expect(await runtime.upkeep.import(alice, files)).toEqual(plan);
    expect(readUserFiles(dataDir, "alice")["memory/MEMORY.md"]).toBe(indexLine("a"));
    expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  });
});

test("records an import as one change set before its commit", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "audit.jsonl");
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({ dataDir, threadsMax: 1, auditLog: { file }, clock: () => start });
  const files = asMemoryFiles({ "a.md": entryText("a", "secret"), "trash/x": "secret" });
  await runtime.upkeep.import({ ...alice, callId: "import-1" }, files);
  await runtime.close();
  const log = readFileSync(file, "utf8");
  const records = log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const staged = records.filter(({ kind }) => kind === "staged");
  expect(staged).toMatchObject([{ callId: "import-1", userId: "alice", tool: "InspectMemory" }]);
  expect(staged[0]).toMatchObject({ writes: [{ path: "a.md" }, { path: "trash/x" }, { path: "MEMORY.md" }] });
  expect(records.find(({ kind }) => kind === "upkeep")).toMatchObject({ action: "import", code: null });
  expect(log).not.toContain("secret");
});

test("no file in the trash blocks another one's folder, and the memory stays usable", async () => {
  await withRuntime(async (runtime, dataDir) => {
    const name = "trash/a.20250101T000000000Z";
    await runtime.upkeep.import(alice, asMemoryFiles({ [name]: "mine" }));
    const nested = `${name}-2/y.20250101T000000000Z.md`;
    await runtime.upkeep.import(alice, asMemoryFiles({ [name]: "yours", [nested]: "theirs" }));
    const files = readUserFiles(dataDir, "alice");
    expect(Object.values(files).toSorted()).toEqual(["mine", "theirs", "yours"]);
    expect(files[`memory/${nested}`]).toBe("theirs");
    expect(await runtime.upkeep.listTrash(alice)).toHaveLength(3);
  });
});
