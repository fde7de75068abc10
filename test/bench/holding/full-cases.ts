/** A memory with as many files and bytes as an import or an export can have. */
import { join } from "node:path";

import type { MemoryFile } from "memcell";

import { storeLimits } from "../../../shared/limits.ts";
import { readArchive, readZip, writeArchive, zipOf } from "../../stage/archive.ts";
import { alice, entryName, entryText, expectOk, inHome, lines, nowMs, put, refusedNone } from "./hold-case.ts";
import type { CaseGroup, HoldStage } from "./hold-case.ts";

const stampOf = (at: number): string => `20250101T${String(at).padStart(9, "0")}Z`;

/** As many files and bytes as an import or an export can have. */
function fullFiles(count: HoldStage["count"]): MemoryFile[] {
  const files: MemoryFile[] = [];
  const add = (scope: string, path: string, content: string): void =>
    void files.push({ scope, path, content: Buffer.from(content) });
  const [body, block] = [lines(3, 2_800), lines(4, 6_200)];
  for (let at = 0; at < count(1_000); at++) add("memory", `${entryName(at)}.md`, entryText(entryName(at), body));
  for (let at = 0; at < count(storeLimits.trashFilesMax); at++) add("memory", `trash/old.${stampOf(at)}.md`, body);
  for (let at = 0; at < count(9_000); at++) {
    const date = new Date(Date.UTC(1971, 0, 1) + at * 86_400_000).toISOString().slice(0, 10);
    const meta = `<!-- agentool-memory: at=${date}T01:00:00+00:00 tags=ops -->`;
    add("journal", `${date.replaceAll("-", "/")}.md`, `### topic-${at}\n\n${block}\n\n${meta}\n\n`);
  }
  for (let at = 0; at < count(19_990); at++) add("journal", `trash/1970/old.${stampOf(at)}.md`, "");
  return files;
}

export const full: CaseGroup = {
  plugins: ["user-memory", "journal"],
  prepareAll: async (stage) => {
    for (const { scope, path, content } of fullFiles(stage.count)) put(inHome(stage, `${scope}/${path}`), content);
  },
  cases: [
    {
      key: "export",
      name: "export 49,990 files of 110 MiB",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.export(alice),
    },
    {
      key: "zip-write",
      name: "write the export as a zip file",
      prepare: async ({ runtime, dataDir }) => {
        const { files } = await runtime.upkeep.export(alice);
        const file = join(dataDir, `${performance.now()}.zip`);
        return () => writeArchive(file, zipOf(files));
      },
    },
    {
      key: "zip-read",
      name: "read it",
      prepare: async ({ runtime, dataDir }) => {
        const file = join(dataDir, `${performance.now()}.zip`);
        await writeArchive(file, zipOf((await runtime.upkeep.export(alice)).files));
        return async () => readZip(await readArchive(file));
      },
    },
    {
      key: "plan-import",
      name: "plan its import",
      prepare: async ({ runtime, count }) => {
        const files = fullFiles(count);
        return () => runtime.upkeep.planImport({ userId: `plan-${performance.now()}` }, files);
      },
    },
    {
      key: "import",
      name: "import it",
      prepare: async ({ runtime, count }) => {
        const files = fullFiles(count);
        return async () => refusedNone(await runtime.upkeep.import({ userId: `import-${performance.now()}` }, files));
      },
    },
    {
      key: "inspect",
      name: "look for problems in it",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.inspect(alice),
    },
    {
      key: "list-trash",
      name: "list a trash of 20,000 files",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.listTrash(alice),
    },
    {
      key: "memory-index",
      name: "the index of 1,000 entries",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.memoryIndex(alice),
    },
    {
      key: "memory-entries",
      name: "the list of 1,000 entries",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.memoryEntries(alice),
    },
    {
      key: "upsert",
      name: "write an entry among 1,000",
      prepare:
        async ({ runtime }) =>
        () =>
          expectOk(
            runtime.call(
              "UpdateUserMemory",
              {
                action: "upsert",
                name: entryName(7),
                type: "user",
                description: "Seven",
                body: `${performance.now()}`,
              },
              alice,
            ),
          ),
    },
    {
      key: "erase-plan",
      name: "plan to erase it",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.planErase(alice),
    },
    {
      key: "purge",
      isOnce: true,
      name: "empty the trash",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.purge(alice, { beforeEpochMs: nowMs }),
    },
    {
      key: "erase",
      isOnce: true,
      name: "erase it",
      prepare:
        async ({ runtime }) =>
        () =>
          runtime.upkeep.erase(alice),
    },
  ],
};
