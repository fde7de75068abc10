/**
 * Recovery on a disk that does not distinguish `a.md` from `A.md`: a person's file with the other spelling is in the
 * place of a file in the WAL. Recovery must not overwrite it unnoticed.
 */
import { readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { UserId } from "../stage/store.ts";
import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { userFolder } from "../support/user-files.ts";
import { DiskRoot, FileStore } from "./host-under-test.ts";

const alice = "alice" as UserId;

test(
  "recovery moves a person's file with another spelling to the trash before it puts the WAL's file back",
  { timeout: 300_000 },
  async (context) => {
    const disk = await loopDisk("exfat", { bytes: 8 * 2 ** 20 });
    using held = typeof disk === "string" ? skipWithReason(context, disk) : disk;
    const dataDir = join(held.path, "data");
    const options = { writes: true, until: performance.now() + 60_000 };
    const notes: string[] = [];
    const open = (boot: string): InstanceType<typeof FileStore> =>
      new FileStore(new DiskRoot(dataDir), { durability: "full", note: (_user, text) => notes.push(text) }, boot);

    const before = open("one start");
    await before.hold(alice, options, (user) =>
      user.commit([{ kind: "write", scope: "memory", path: "a.md", content: "ours" }], []),
    );
    const memory = join(userFolder(dataDir, alice), "memory");
    renameSync(join(memory, "a.md"), join(memory, "away.md"));
    renameSync(join(memory, "away.md"), join(memory, "A.md"));
    writeFileSync(join(memory, "A.md"), "a person's");

    const after = open("another start");
    await after.hold(alice, { ...options, writes: false }, async () => {});
    await after.close();
    expect(readdirSync(memory).toSorted()).toEqual(["a.md", "trash"]);
    expect(readFileSync(join(memory, "a.md"), "utf8")).toBe("ours");
    const [saved = ""] = readdirSync(join(memory, "trash"));
    expect(readFileSync(join(memory, "trash", saved), "utf8")).toBe("a person's");
    expect(notes.join("\n")).toContain("this disk does not distinguish it from a.md");
  },
);
