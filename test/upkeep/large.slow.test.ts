/** Upkeep of as much as tools can make, and of more in the trash: it is there to be relieved. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { alice, bob, openUpkeep } from "./upkeep-stage.ts";

const plugins = ["user-memory"];

async function openWithTrash(count: number) {
  const at = await openUpkeep("files", { plugins });
  const trash = join(at.home(), "memory/trash");
  mkdirSync(trash, { recursive: true });
  writeFileSync(join(trash, "../MEMORY.md"), "");
  for (let each = 0; each < count; each++) writeFileSync(join(trash, `y${each}.20260101T000000000Z.md`), "");
  return at;
}

const restored = "y7.20260101T000000000Z.md";
const later = { beforeEpochMs: Date.UTC(2027, 0) };

test("a trash of 25,000 files is listed, exported, imported, inspected and purged", { timeout: 180_000 }, async () => {
  const count = 25_000;
  await using at = await openWithTrash(count);
  expect(await at.upkeep.listTrash(alice)).toHaveLength(count);
  expect(await at.upkeep.inspect(alice)).toEqual([]);
  const { files } = await at.upkeep.export(alice);
  expect(files).toHaveLength(count + 1);
  expect((await at.upkeep.import(bob, files)).trashed).toHaveLength(count);
  expect(await at.upkeep.restore(alice, restored)).toMatchObject({ path: "y7.md" });
  expect(await at.upkeep.purge(alice, later)).toHaveLength(count - 1);
  expect(await at.upkeep.listTrash(alice)).toEqual([]);
});

test("a trash of more files than a call has room for arguments is purged", { timeout: 180_000 }, async () => {
  const count = 150_000;
  await using at = await openWithTrash(count);
  expect(await at.upkeep.inspect(alice)).toEqual([]);
  await expect(at.upkeep.export(alice)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining('at most 60000 allowed; "memcell trash purge" empties its trash'),
  });
  expect(await at.upkeep.restore(alice, restored)).toMatchObject({ path: "y7.md" });
  expect(await at.upkeep.purge(alice, later)).toHaveLength(count - 1);
  const removedHidden = count - 1 - auditLimits.recordFilesMax;
  const purged = at.records().findLast((record) => record.kind === "upkeep" && record.action === "purge");
  expect(purged).toMatchObject({ code: null, removedHidden });
});

/** As many entries as the tools make, of the largest kind: 62.6 of 64 MiB. */
const count = 1_000;
const bodyBytes = 65_536;

test.for([
  ["letters of two bytes", "\u00e9"],
  ["characters that JSON escapes", '\\"'],
] as const)("a full memory of %s goes round and is mended", { timeout: 180_000 }, async ([, unit]) => {
  await using at = await openUpkeep("files", { plugins });
  const body = unit.repeat(bodyBytes / Buffer.byteLength(unit));
  const files = Array.from({ length: count }, (_, each) => ({
    scope: "memory",
    path: `e${each}.md`,
    content: Buffer.from(`---\ndescription: number ${each}\ntype: user\n---\n${body}`),
  }));
  expect((await at.upkeep.import(alice, files)).created).toHaveLength(count);
  expect(await at.upkeep.inspect(alice)).toEqual([]);
  const exported = await at.upkeep.export(alice);
  expect(exported.files).toHaveLength(count + 1);
  const { created, refused } = await at.upkeep.import(bob, exported.files);
  expect([created.length, refused]).toEqual([count + 1, []]);
  rmSync(join(at.home("bob"), "memory/MEMORY.md"));
  expect(await at.upkeep.mend(bob)).toMatchObject([{ problem: "index-missing" }]);
  expect(await at.upkeep.inspect(bob)).toEqual([]);
});
