/** The owner's view of a plugin that can judge its files and change none of them: the journal. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { asMemoryFiles } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";

const [alice, bob] = [{ userId: "alice" }, { userId: "bob" }];
const block = (key: string): string => `### ${key}\n\ntext of ${key}\n\n`;

async function withJournal(work: (runtime: Runtime, dataDir: string) => Promise<void>) {
  using folder = temporaryFolder();
  const plugins = [shippedPlugin("journal")];
  const [dataDir, policy] = [join(folder.path, "data"), policyFor(plugins)];
  await using runtime = await createRuntime({ dataDir, plugins, policy, threadsMax: 1 });
  await work(runtime, dataDir);
}

test("what is exported comes in, although the plugin that judges it may write nothing", async () => {
  await withJournal(async (runtime, dataDir) => {
    const kept = { "journal/2023/11/14.md": block("a"), "journal/MEMORY.md": block("b") };
    writeUserFiles(dataDir, { alice: { ...kept, "journal/notes.txt": "x" } });
    const { files, leftOut } = await runtime.upkeep.export(alice);
    expect(leftOut).toMatchObject([{ path: expect.stringContaining("notes.txt") }]);
    const plan = await runtime.upkeep.import(bob, files);
    expect(plan).toMatchObject({ created: Object.keys(kept).toSorted(), refused: [] });
    expect(readUserFiles(dataDir, "bob")).toEqual(kept);
    const entries = await runtime.memoryEntries(bob);
    expect(entries.map(({ family, name }) => `${family}/${name}`)).toEqual(["journal/b", "journal/a"]);
  });
});

test("an import with a file that is no text, or that the journal does not read, is refused whole", async () => {
  await withJournal(async (runtime, dataDir) => {
    const good = asMemoryFiles({ "MEMORY.md": block("b") }, "journal");
    const noText = [...good, { scope: "journal", path: "x.md", content: Buffer.from([0xff]) }];
    await expect(runtime.upkeep.import(bob, noText)).rejects.toMatchObject({ code: "ENTRY_UNREADABLE" });
    const unused = [...good, ...asMemoryFiles({ "x.txt": "x" }, "journal")];
    await expect(runtime.upkeep.import(bob, unused)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(userFolderNames(dataDir)).toEqual([]);
  });
});

test("what the store can mend is mended, and what the plugin finds stays and is told", async () => {
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
