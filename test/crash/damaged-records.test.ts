/** What somebody has put into the place of the host's records keeps no user out, also after the machine has stopped. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { alice, commit, openStore, write } from "./small-disk-store.ts";

const until = () => ({ until: performance.now() + 10_000 });

test.for<readonly [what: string, put: (runs: string) => void]>([
  ["a file is in their folder's place", (runs) => (rmSync(runs, { recursive: true }), writeFileSync(runs, ""))],
  ["a link is in their folder's place", (runs) => (renameSync(runs, `${runs}-2`), symlinkSync("runs-2", runs))],
  [
    "a folder is in a record's place",
    (runs) => (rmSync(join(runs, "trust.json")), mkdirSync(join(runs, "trust.json"))),
  ],
  [
    "a link is in a record's place",
    (runs) => (rmSync(join(runs, "trust.json")), symlinkSync("x", join(runs, "trust.json"))),
  ],
  ["a record is too large", (runs) => writeFileSync(join(runs, "trust.json"), Buffer.alloc(17 * 2 ** 20))],
])("after a stop of the machine, where %s, the user's files are read, written and mended", async ([, put]) => {
  using folder = temporaryFolder();
  const before = openStore(folder.path, {}, "one start");
  await before.holdRecords(alice, { writes: true, ...until() }, async (records) => {
    await records.write("runs", "trust", "[]");
  });
  await commit(before, [write("a.md", "text")]);
  put(join(userFolder(folder.path, alice), ".memcell", "runs"));

  const after = openStore(folder.path, {}, "another start");
  for (const options of [{ writes: false }, { writes: true }, { writes: true, isThorough: true }]) {
    await after.holdUser(alice, { ...options, ...until() }, async ({ reader }) => {
      expect(Buffer.from((await reader.bytesOf("memory", "a.md")) ?? "").toString()).toBe("text");
    });
  }
  await commit(after, [write("b.md", "more")]);
  await after.close();
});
