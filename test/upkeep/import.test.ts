/** `upkeep.import`: all or nothing, without overwriting, and byte for byte what was exported. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readZip, transferLimits } from "../stage/archive.ts";
import { asMemoryFiles, asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, allFiles, bob, engines, openUpkeep } from "./upkeep-stage.ts";
import type { UpkeepStage } from "./upkeep-stage.ts";

/** Exports, passes through a zip file, imports for another user and exports again: the bytes must be the same. */
async function goesRound({ upkeep }: UpkeepStage): Promise<Record<string, string>> {
  const { files, leftOut } = await upkeep.export(alice);
  expect(leftOut).toEqual([]);
  const zip = await zippedBytes(files);
  const done = await upkeep.import(bob, await readZip(zip));
  expect(done).toMatchObject({ replaced: [], skipped: [], mended: [], refused: [], refusedHidden: 0 });
  const again = await upkeep.export(bob);
  expect((await zippedBytes(again.files)).equals(zip)).toBe(true);
  return asTexts(again.files);
}

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
  const texts = await goesRound(at);
  expect(Object.keys(texts)).toHaveLength(7);
  expect(texts["trash/x.20250101T000000000Z.md"]).toBe(bytes.toString("latin1"));
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
  expect(staged).toMatchObject([{ callId: "import-1", userId: "alice", tool: "InspectMemory" }]);
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
