/**
 * A person's program changes a file right after a call has read it, without changing its size: the call sees it, on each
 * kind of disk and however the program writes.
 */
import { execFileSync } from "node:child_process";
import { renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { alice, commit, diskOr, openStore, write } from "./small-disk-store.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

const mapped = `
import mmap, sys
with open(sys.argv[1], "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[:] = sys.argv[2].encode()
`;

const ways: Readonly<Record<string, (path: string, text: string) => void>> = {
  "truncates and writes it": (path, text) => writeFileSync(path, text),
  "writes into it": (path, text) => writeFileSync(path, text, { flag: "r+" }),
  "renames another file to it": (path, text) => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  },
  "writes it and puts its time back": (path, text) => {
    const { atime, mtime } = statSync(path);
    writeFileSync(path, text);
    utimesSync(path, atime, mtime);
  },
  "maps it into memory": (path, text) => void execFileSync("python3", ["-c", mapped, path, text]),
};

test.for(["this disk", "tmpfs", "ext4", "exfat"] as const)("on %s a program changes a file", async (disk, context) => {
  using folder = temporaryFolder();
  using made = disk === "this disk" ? null : await diskOr(context, disk, { bytes: 8 * 2 ** 20 });
  const dataDir = join(made?.path ?? folder.path, "data");
  const store = openStore(dataDir);
  const path = join(userFolder(dataDir, alice), "memory/a.md");
  let last = "text 000";
  await commit(store, [write("a.md", last)]);
  for (const [way, save] of Object.entries(ways)) {
    for (let round = way.startsWith("maps") ? 5 : 1; round <= 6; round++) {
      const next = `text ${String(round + Object.keys(ways).indexOf(way) * 10).padStart(3, "0")}`;
      expect(await copyWhile(store, () => save(path, next)), way).toEqual([last, next]);
      expect(readUserFiles(dataDir, alice), way).toEqual({ "memory/a.md": next, "memory/copy.md": next });
      last = next;
    }
  }
  await store.close();
});

/** Writes a file with what another one has; the latter is edited after the first read. Returns what was read. */
async function copyWhile(store: StoreUnderTest, edit: () => void): Promise<(string | null)[]> {
  const reads: (string | null)[] = [];
  await store.holdUser(alice, { writes: true, until: performance.now() + 10_000 }, async (held) => {
    using reader = store.open(alice);
    const found = reader.read("memory", "a.md");
    reads.push(found);
    if (reads.length === 1) edit();
    await held.commit([write("a.md", found ?? ""), write("copy.md", found ?? "")], reader.seen);
  });
  return reads;
}
