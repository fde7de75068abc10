/** A memory as large as tools can make it is exported, imported, inspected and mended. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

/** As many entries as the tools make, of the largest kind: 62.6 of 64 MiB. */
const count = 1_000;
const bodyBytes = 65_536;

test.for([
  { name: "letters of two bytes", unit: "\u00e9" },
  { name: "characters that JSON escapes", unit: '\\"' },
])("a full memory of $name", { timeout: 180_000 }, async ({ unit }) => {
  using folder = temporaryFolder();
  const body = unit.repeat(bodyBytes / Buffer.byteLength(unit));
  const files = Array.from({ length: count }, (_, at) => ({
    scope: "memory",
    path: `e${at}.md`,
    content: Buffer.from(`---\ndescription: number ${at}\ntype: user\n---\n${body}`),
  }));
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1 });
  const [alice, bob] = [{ userId: "alice" }, { userId: "bob" }];
  expect((await runtime.upkeep.import(alice, files)).created).toHaveLength(count);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  const exported = await runtime.upkeep.export(alice);
  expect(exported.files).toHaveLength(count + 1);
  const { created, refused } = await runtime.upkeep.import(bob, exported.files);
  expect([created.length, refused]).toEqual([count + 1, []]);
  rmSync(join(userFolder(folder.path, "bob"), "memory", "MEMORY.md"));
  expect(await runtime.upkeep.mend(bob)).toMatchObject([{ problem: "index-missing" }]);
  expect(await runtime.upkeep.inspect(bob)).toEqual([]);
});
