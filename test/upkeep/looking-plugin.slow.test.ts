/** Upkeep with a plugin that can judge its files but not change them: the journal. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { asMemoryFiles } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const [alice, bob] = [{ userId: "alice" }, { userId: "bob" }];
const block = (key: string): string => `### ${key}\n\ntext of ${key}\n\n`;

async function withJournal(work: (runtime: Runtime, dataDir: string) => Promise<void>) {
  using folder = temporaryFolder();
  const plugins = [shippedPlugin("journal")];
  const [dataDir, policy] = [join(folder.path, "data"), policyFor(plugins)];
  await using runtime = await createRuntime({ dataDir, plugins, policy, threadsMax: 1 });
  await work(runtime, dataDir);
}

test("imports what was exported, although the judging plugin cannot write", async () => {
  await withJournal(async (runtime, dataDir) => {
    const kept = { "journal/2023/11/14.md": block("a"), "journal/MEMORY.md": block("b") };
    writeUserFiles(dataDir, { alice: { ...kept, "journal/notes.txt": "x" } });
    const { files, leftOut } = await runtime.upkeep.export(alice);
    expect(leftOut).toEqual([]);
    const plan = await runtime.upkeep.import(bob, files);
    expect(plan).toMatchObject({ created: Object.keys(kept).toSorted(), refused: [] });
    expect(plan.leftOut).toMatchObject([{ path: "journal/notes.txt", code: "INPUT_INVALID" }]);
    expect(readUserFiles(dataDir, "bob")).toEqual(kept);
    const entries = await runtime.memoryEntries(bob);
    expect(entries.map(({ family, name }) => `${family}/${name}`)).toEqual(["journal/b", "journal/a"]);
  });
});

test("imports a file that is not text byte for byte, and the doctor names it", async () => {
  await withJournal(async (runtime, dataDir) => {
    const good = asMemoryFiles({ "MEMORY.md": block("b") }, "journal");
    const noText = [...good, { scope: "journal", path: "x.md", content: Buffer.from([0xff]) }];
    expect(await runtime.upkeep.import(bob, noText)).toMatchObject({ created: ["journal/MEMORY.md", "journal/x.md"] });
    expect(readFileSync(join(userFolder(dataDir, "bob"), "journal/x.md"))).toEqual(Buffer.from([0xff]));
    expect(await runtime.upkeep.inspect(bob)).toMatchObject([{ path: "journal/x.md" }]);
  });
});

test("imports more files than one call of the journal can name as one change set", async () => {
  await withJournal(async (runtime, dataDir) => {
    const paths = Array.from({ length: 3_000 }, (_, at) => `${"d".repeat(240)}-${at}.md`);
    const files = asMemoryFiles(Object.fromEntries(paths.map((path) => [path, block("k")])), "journal");
    expect(await runtime.upkeep.import(bob, files)).toMatchObject({ leftOut: [], mended: [], refused: [] });
    expect(Object.keys(readUserFiles(dataDir, "bob"))).toHaveLength(3_000);
  });
});

test("more unusable files than the journal can report do not block other files", async () => {
  await withJournal(async (runtime, dataDir) => {
    const unused = Array.from({ length: 1_001 }, (_, at) => [`journal/x${at}.txt`, "x"] as const);
    writeUserFiles(dataDir, { bob: Object.fromEntries(unused) });
    const files = asMemoryFiles({ "MEMORY.md": block("b") }, "journal");
    expect(await runtime.upkeep.import(bob, files)).toMatchObject({ created: ["journal/MEMORY.md"], refused: [] });
  });
});

test("counts findings beyond the limit of an answer, and offers no repair that is impossible", async () => {
  await withJournal(async (runtime, dataDir) => {
    const unused = Object.fromEntries(Array.from({ length: 1_001 }, (_, count) => [`journal/f${count}.txt`, "x"]));
    writeUserFiles(dataDir, { alice: unused });
    const found = await runtime.upkeep.inspect(alice);
    expect(found).toHaveLength(1_001);
    expect(found.at(-1)).toEqual({
      problem: "not-inspected",
      path: "journal",
      message: "1 more findings are not shown",
      remedy: null,
    });
    expect(await runtime.upkeep.mend(alice)).toEqual([]);
  });
});

test("repairs what the store can repair; the plugin's findings stay and are reported", async () => {
  await withJournal(async (runtime, dataDir) => {
    writeUserFiles(dataDir, { alice: { "journal/x.txt": "x", "journal/MEMORY.md": block("b") } });
    const left = join(userFolder(dataDir, "alice"), ".memcell", "staged-7");
    mkdirSync(join(left, ".."), { recursive: true });
    writeFileSync(left, "left behind");
    const found = await runtime.upkeep.inspect(alice);
    expect(found).toContainEqual(
      expect.objectContaining({ problem: "file-unused", path: "journal/x.txt", remedy: null }),
    );
    const mended = await runtime.upkeep.mend(alice);
    expect(mended).toEqual(found.filter(({ remedy }) => remedy !== null));
    expect(mended.map(({ problem }) => problem)).toContain("temporary-file");
    expect(existsSync(left)).toBe(false);
    expect(await runtime.upkeep.inspect(alice)).toEqual(found.filter(({ remedy }) => remedy === null));
  });
});
