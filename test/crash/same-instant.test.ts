/**
 * A person's program changes a file right after a call has read it, without changing its size: the call sees it, on each
 * kind of disk and however the program writes.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, renameSync, statSync, utimesSync, writeFileSync, writeSync } from "node:fs";
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

interface Way {
  readonly name: string;
  readonly save: (path: string, text: string) => void;
  readonly rounds: number;
}

const ways: Way[] = [
  { name: "truncates and writes it", save: (path, text) => writeFileSync(path, text), rounds: 30 },
  {
    name: "writes into it",
    save: (path, text) => {
      const file = openSync(path, "r+");
      writeSync(file, text, 0);
      closeSync(file);
    },
    rounds: 30,
  },
  {
    name: "renames another file to it",
    save: (path, text) => {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    },
    rounds: 30,
  },
  {
    name: "writes it and puts its time back",
    save: (path, text) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, text);
      utimesSync(path, atime, mtime);
    },
    rounds: 30,
  },
  {
    name: "maps it into memory",
    save: (path, text) => void execFileSync("python3", ["-c", mapped, path, text]),
    rounds: 3,
  },
];

const rows = ["this disk", "tmpfs", "ext4", "exfat"].flatMap((disk) => ways.map((way) => Object.assign({ disk }, way)));

test.for(rows)("on $disk a program $name", async ({ disk, save, rounds }, context) => {
  using folder = temporaryFolder();
  using made =
    disk === "this disk" ? null : await diskOr(context, disk as "tmpfs" | "ext4" | "exfat", { bytes: 8 * 2 ** 20 });
  const dataDir = join(made?.path ?? folder.path, "data");
  const store = openStore(dataDir);
  await commit(store, [write("a.md", text(0))]);
  for (let round = 1; round <= rounds; round++) {
    const reads = await appendTo(store, () => save(join(userFolder(dataDir, alice), "memory/a.md"), text(round)));
    expect(reads).toEqual([text(round - 1), text(round)]);
    expect(readUserFiles(dataDir, alice)).toEqual({ "memory/a.md": text(round), "memory/copy.md": text(round) });
  }
  await store.close();
});

const text = (round: number): string => `text ${String(round).padStart(3, "0")}`;

/** Writes a file with what another one has; the latter is edited after the first read. Returns what was read. */
async function appendTo(store: StoreUnderTest, edit: () => void): Promise<(string | null)[]> {
  const reads: (string | null)[] = [];
  await store.hold(alice, { writes: true, until: performance.now() + 10_000 }, async (held) => {
    using reader = store.openUser(alice);
    const found = reader.read("memory", "a.md");
    reads.push(found);
    if (reads.length === 1) edit();
    await held.commit([write("a.md", found ?? ""), write("copy.md", found ?? "")], reader.seen);
  });
  return reads;
}
