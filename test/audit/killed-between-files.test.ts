/** Each state that a kill can leave while a full file is rotated and the next one begins. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { longEntry } from "./audit-entries.ts";
import {
  headName,
  linesOf,
  logFileNames,
  logName,
  openLog,
  recordsOf,
  smallestFile,
  writeLines,
  writeRun,
} from "./log-under-test.ts";

/** Records 0 to 3, in one full file and the current one. */
async function justRotated(folder: string): Promise<void> {
  const log = await openLog(folder, { fileBytesMax: smallestFile });
  for (const count of [1, 2]) log.append(longEntry(count));
  log.close();
}

const fullName = `${logName}.000000000000.jsonl`;

test.for([
  { name: "before the file is moved away", change: () => {} },
  {
    name: "after it was moved away",
    change: (folder: string) => {
      writeFileSync(join(folder, fullName), readFileSync(join(folder, logName)));
      rmSync(join(folder, logName));
    },
  },
  {
    name: "after the next was made",
    change: (folder: string) => {
      writeFileSync(join(folder, fullName), readFileSync(join(folder, logName)));
      truncateSync(join(folder, logName), 0);
    },
  },
  {
    name: "in the middle of the next one's first record",
    change: (folder: string) => {
      writeFileSync(join(folder, fullName), readFileSync(join(folder, logName)));
      writeFileSync(join(folder, logName), "{");
    },
  },
])("killed during rotation: $name", async ({ change }) => {
  using folder = temporaryFolder();
  await justRotated(folder.path);
  change(folder.path);
  await writeRun(folder.path, [longEntry(3), longEntry(4)], { fileBytesMax: smallestFile });
  const result = verifyLog([join(folder.path, logName)]);
  expect(result.findings).toEqual([]);
  expect(recordsOf(folder.path).map(({ seq }) => seq)).toEqual(Array.from({ length: 8 }, (_, at) => at));
  expect(logFileNames(folder.path)).toContain(fullName);
});

test("keeps a record that was written after the head before a kill in the next file", async () => {
  using folder = temporaryFolder();
  await justRotated(folder.path);
  const head = readFileSync(join(folder.path, headName));
  writeFileSync(join(folder.path, fullName), readFileSync(join(folder.path, logName)));
  rmSync(join(folder.path, logName));
  const log = await openLog(folder.path, { fileBytesMax: smallestFile });
  log.close();
  // Record 4 is the first of the next file. Its successor and the newer head are lost.
  writeLines(folder.path, logName, linesOf(folder.path).slice(0, 1));
  writeFileSync(join(folder.path, headName), head);
  await writeRun(folder.path, []);
  expect(verifyLog([join(folder.path, logName)]).findings).toEqual([]);
  expect(recordsOf(folder.path).slice(4)).toMatchObject([
    { seq: 4, kind: "opened" },
    { seq: 5, kind: "opened", head: "agrees", missing: 0 },
    { seq: 6, kind: "closed" },
  ]);
});
