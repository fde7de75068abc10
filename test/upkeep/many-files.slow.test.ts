/** As many files as an export and an import accept, and one more. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

const alice = { userId: "alice" };

test("20,000 files can be exported and imported, and one more cannot", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const trash = join(userFolder(folder.path, "alice"), "memory", "trash");
  mkdirSync(trash, { recursive: true });
  writeFileSync(join(trash, "..", "MEMORY.md"), "");
  for (let count = 1; count < 20_000; count++) writeFileSync(join(trash, `y${count}`), "");
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, durability: "relaxed" });
  const { files } = await runtime.upkeep.export(alice);
  expect(files).toHaveLength(20_000);
  const { trashed } = await runtime.upkeep.import({ userId: "bob" }, files);
  expect(trashed).toHaveLength(19_999);
  expect((await runtime.upkeep.export({ userId: "bob" })).files).toHaveLength(20_000);
  const another = [{ scope: "memory", path: "trash/z", content: Buffer.alloc(0) }];
  await expect(runtime.upkeep.import({ userId: "bob" }, another)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  writeFileSync(join(trash, "z"), "");
  await expect(runtime.upkeep.export(alice)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
});
