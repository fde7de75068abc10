/**
 * Recovery on a disk that does not distinguish `a.md` from `A.md`: a person's file with the other spelling is in the
 * place of a file in the journal. Recovery must not overwrite it unnoticed.
 */
import { readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { userFolder } from "../support/user-files.ts";
import { alice, commit, diskOr, openStore, write } from "./small-disk-store.ts";

const title =
  "recovery moves a person's file with another spelling to the trash before it puts the journal's file back";

test(title, { timeout: 300_000 }, async (context) => {
  using disk = await diskOr(context, "exfat", { bytes: 8 * 2 ** 20 });
  const dataDir = join(disk.path, "data");
  const notes: string[] = [];
  const note = (_user: string, text: string): void => void notes.push(text);
  await commit(openStore(dataDir, { note }, "one start"), [write("a.md", "ours")]);
  const memory = join(userFolder(dataDir, alice), "memory");
  renameSync(join(memory, "a.md"), join(memory, "away.md"));
  renameSync(join(memory, "away.md"), join(memory, "A.md"));
  writeFileSync(join(memory, "A.md"), "a person's");

  const after = openStore(dataDir, { note }, "another start");
  await after.holdUser(alice, { writes: false, until: performance.now() + 60_000 }, async () => {});
  await after.close();
  expect(readdirSync(memory).toSorted()).toEqual(["a.md", "trash"]);
  expect(readFileSync(join(memory, "a.md"), "utf8")).toBe("ours");
  const [saved = ""] = readdirSync(join(memory, "trash"));
  expect(readFileSync(join(memory, "trash", saved), "utf8")).toBe("a person's");
  expect(notes.join("\n")).toContain("this disk does not distinguish it from a.md");
});
