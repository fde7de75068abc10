/** How large a WAL is: room for the next records costs less than a file that grows with each of them. */
import { readFileSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { recordsStart } from "../../host/store/files/commit/wal-format.ts";
import { walLimits } from "../../host/store/files/commit/wal-limits.ts";
import { alice, commit, diskOr, openStore, write } from "../crash/small-disk-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

const walOf = (dataDir: string): string => join(userFolder(dataDir, alice), ".memcell", "journal");

test.for([
  { name: "few records keep the room that they took", records: 3, leftMax: 32_768 },
  { name: "of many a part is left", records: 40, leftMax: walLimits.idleBytes },
])("an idle user's WAL has nothing in it, and $name", async ({ records, leftMax }) => {
  using folder = temporaryFolder();
  const first = openStore(folder.path);
  for (let at = 0; at < records; at++) await commit(first, [write(`${at}.md`, "a secret ".repeat(400))]);
  expect(readFileSync(walOf(folder.path), "utf8")).toContain("a secret");
  await first.close();
  const left = readFileSync(walOf(folder.path)).subarray(recordsStart);
  expect(left.every((byte) => byte === 0)).toBe(true);
  expect(left.length).toBeLessThanOrEqual(leftMax);

  const later = openStore(folder.path);
  for (let at = 0; at < 2; at++) await commit(later, [write(`later-${at}.md`, "short")]);
  expect(statSync(walOf(folder.path)).size).toBe(recordsStart + left.length);
  await later.close();
});

test("a WAL that grows doubles", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  const sizes = new Set<number>();
  for (let at = 0; at < 100; at++) {
    await commit(store, [write("a.md", `${at} `.repeat(3_000))]);
    sizes.add(statSync(walOf(folder.path)).size);
  }
  expect(sizes.size).toBeLessThan(9);
  await store.close();
});

test("a record is written where there is room for it, and none for twice the WAL", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 1024 * 1024 });
  const store = openStore(disk.path);
  const sizeNow = (): number => statSync(walOf(disk.path)).size;
  const fill = (): Promise<void> => commit(store, [write("a.md", "a text ".repeat(1_200))]);
  await fill();
  while (sizeNow() < 200_000) await fill();
  const { bavail, bsize } = statfsSync(disk.path);
  writeFileSync(join(disk.path, "ballast"), Buffer.alloc(bavail * bsize - 100_000));
  const before = sizeNow();
  while (sizeNow() === before) await fill();
  expect(sizeNow()).toBeLessThan(before + 100_000);
  await store.close();
});
