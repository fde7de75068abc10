/** Erasing a user reaches nobody else, by whatever id or link, and nothing that lies in the folder prevents it. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { fillAll, openAll, ownStore, shownBy } from "../owner/four-families.ts";
import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder, userFolderNames } from "../support/user-files.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await openAll(folder.path);
  await fillAll(runtime, "bob");
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});
const homeOf = (userId: string): string => userFolder(folder.path, userId);
const storeOf = (userId: string): string => join(folder.path, "stores", ownStore(userId));

const odd = ["..", ".erased.0", "%62ob", "BOB", "bob ", "a".repeat(128), "ü/..", "con", "CON.md"];

test("an id that looks like another's folder or store, or like what is left of a user, reaches only itself", async () => {
  const before = treeFingerprint(folder.path);
  // The id of Bob's store, of version 8: as a user id, its own store is another one.
  const ids = [
    ...odd,
    userFolder("", "bob"),
    `stores/${ownStore("bob")}`,
    ownStore("bob").toUpperCase(),
    ownStore("bob"),
  ];
  for (const userId of ids) {
    await expect(runtime.upkeep.erase({ userId })).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENTRY_NOT_FOUND|USER_INVALID)$/) as string,
    });
  }
  expect(treeFingerprint(folder.path)).toEqual(before);
  expect(await shownBy(runtime, "bob")).toMatchObject({ note: { ok: true } });
  for (const userId of [".erased.0", "%62ob", "BOB", "con"]) {
    expect(await runtime.call("memory_write", { key: "k", content: "x" }, { userId })).toMatchObject({ ok: true });
    await runtime.upkeep.erase({ userId });
  }
  expect(userFolderNames(folder.path)).toEqual(["bob"]);
});

test("a folder whose record names another user is not erased, whatever it is called", async () => {
  await fillAll(runtime, "carol");
  await runtime.close();
  renameSync(homeOf("carol"), homeOf("caroline"));
  runtime = await openAll(folder.path);
  const before = treeFingerprint(homeOf("caroline"));
  const refused = {
    code: "STORAGE_UNSAFE",
    message: expect.stringContaining("it belongs to another user id") as string,
  };
  await expect(runtime.upkeep.erase({ userId: "caroline" })).rejects.toMatchObject(refused);
  await expect(runtime.upkeep.planErase({ userId: "caroline" })).rejects.toMatchObject(refused);
  expect(treeFingerprint(homeOf("caroline"))).toEqual(before);
});

test("on a disk that ignores case, a user whose id differs only by case from another's erases nothing", async (context) => {
  const disk = await loopDisk("exfat", { bytes: 8 * 2 ** 20 });
  if (typeof disk === "string") skipWithReason(context, disk);
  using mounted = disk;
  const dataDir = join(mounted.path, "data");
  await using folding = await openAll(dataDir);
  const write = { key: "k", content: "x" };
  expect(await folding.call("memory_write", write, { userId: "Alice" })).toMatchObject({ ok: true });
  for (const damage of ["none", "an empty record", "no record"]) {
    if (damage === "an empty record") writeFileSync(join(dataDir, "users/Alice/.memcell/owner"), "");
    if (damage === "no record") rmSync(join(dataDir, "users/Alice/.memcell/owner"));
    await expect(folding.upkeep.erase({ userId: "alice" })).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
    expect(readdirSync(join(dataDir, "users/Alice"))).toContain("journal");
  }
  expect(await folding.upkeep.erase({ userId: "Alice" })).toMatchObject({ left: [] });
  expect(readdirSync(join(dataDir, "users"))).toEqual([]);
});

test("links in the folder are removed, and what they lead to stays", async () => {
  await fillAll(runtime, "linking");
  const [home, bobs] = [homeOf("linking"), homeOf("bob")];
  const outside = join(folder.path, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "kept.txt"), "kept");
  symlinkSync(bobs, join(home, "notes"));
  symlinkSync(join(bobs, "memory"), join(home, "memory/sub"));
  symlinkSync(join(bobs, "memory/kept.md"), join(home, "memory/link.md"));
  symlinkSync(outside, join(home, "journal/outside"));
  linkSync(join(outside, "kept.txt"), join(home, "memory/second.md"));
  symlinkSync(join(storeOf("bob"), "entries"), join(storeOf("linking"), "entries/bobs"));
  const before = await shownBy(runtime, "bob");
  expect(await runtime.upkeep.erase({ userId: "linking" })).toMatchObject({ left: [] });
  expect(await shownBy(runtime, "bob")).toEqual(before);
  expect(readFileSync(join(outside, "kept.txt"), "utf8")).toBe("kept");
  expect(userFolderNames(folder.path)).not.toContain("linking");
});

test("a link in the place of the user's folder, or of the own store, is refused", async () => {
  const before = await shownBy(runtime, "bob");
  symlinkSync(homeOf("bob"), homeOf("dave"));
  symlinkSync(storeOf("bob"), storeOf("erin"));
  for (const userId of ["dave", "erin"]) {
    await expect(runtime.upkeep.erase({ userId })).rejects.toMatchObject({ code: "STORAGE_UNSAFE" });
  }
  expect(await shownBy(runtime, "bob")).toEqual(before);
});

/** What calls refuse to use is erased all the same. */
const damages: Readonly<Record<string, (own: string) => void>> = {
  "a link in the place of the lock": (own) => replaceByLink(join(own, "lock")),
  "a link in the place of the journal": (own) => replaceByLink(join(own, "journal")),
  "a link in the place of the owner's record": (own) => replaceByLink(join(own, "owner")),
  "a folder in the place of the lock": (own) => {
    rmSync(join(own, "lock"));
    mkdirSync(join(own, "lock"));
  },
  "a second name of every file": (own) => {
    const files = readdirSync(own).filter((name) => name !== "journal");
    for (const name of files) linkSync(join(own, name), join(own, `copy-of-${name}`));
  },
  "a journal that is none": (own) => writeFileSync(join(own, "journal/000000000001.log"), "x".repeat(9_000)),
  "no folder of the host": (own) => rmSync(own, { recursive: true }),
  "a file in the place of the host's folder": (own) => {
    rmSync(own, { recursive: true });
    writeFileSync(own, "x");
  },
};

function replaceByLink(path: string): void {
  rmSync(path, { recursive: true });
  symlinkSync("/etc/hostname", path);
}

test("none of these damages keeps anybody from erasing the user", async () => {
  using damaged = temporaryFolder();
  const rows = Object.entries(damages).map(([name, damage], at) => {
    const userId = `user-${at}`;
    const homes = [userFolder(damaged.path, userId), join(damaged.path, "stores", ownStore(userId))];
    return { name, damage, userId, homes };
  });
  {
    await using before = await openAll(damaged.path);
    for (const { userId } of rows) await fillAll(before, userId);
  }
  for (const { damage, homes } of rows) for (const home of homes) damage(join(home, ".memcell"));
  await using after = await openAll(damaged.path);
  for (const { name, userId, homes } of rows) {
    expect({ name, erased: await after.upkeep.erase({ userId }) }).toMatchObject({ name, erased: { left: [] } });
    expect(homes.filter((home) => existsSync(home))).toEqual([]);
  }
  expect(await after.upkeep.strays()).toEqual([]);
  expect(readFileSync("/etc/hostname", "utf8")).not.toBe("");
});
