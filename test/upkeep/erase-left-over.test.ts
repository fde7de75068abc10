/** What an interrupted or hindered erasure leaves: no tool reaches it, it is named, and it is removed later. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { loopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { fillAll, openAll, ownStore } from "./four-families.ts";
import { alice, bob } from "./upkeep-stage.ts";

test("what is left of an erased user is removed at the next start, with grants of others from before", async () => {
  using folder = temporaryFolder();
  let now = 1_700_000_000_000;
  const clock = (): number => now;
  const name = `.erased.${ownStore("alice")}.${now + 10}.0badcafe`;
  const left = join(folder.path, "users", name);
  const kept = `.erased.${ownStore("alice")}.soon`;
  {
    await using runtime = await openAll(folder.path, { clock });
    await fillAll(runtime, "alice");
    await runtime.stores(bob).grant("alice");
    now += 20;
    await runtime.stores({ userId: "carol" }).grant("alice");
  }
  renameSync(userFolder(folder.path, "alice"), left);
  mkdirSync(join(folder.path, "users", kept));
  await using runtime = await openAll(folder.path, { clock, retiresLeftOver: false });
  expect(await runtime.upkeep.strays()).toMatchObject([{ problem: "erase-unfinished", path: `users/${name}` }]);
  expect(existsSync(left)).toBe(true);
  const removed = untilGone(left);
  await using next = await openAll(folder.path, { clock });
  await removed;
  expect(await next.stores(bob).grants()).toEqual([]);
  expect(await next.stores({ userId: "carol" }).grants()).toHaveLength(1);
  // The own store is not that of the erased folder: it has no mark.
  expect(await next.callAsHost("memory", { command: "view", path: "/memories/notes/kept.md" }, alice)).toMatchObject({
    ok: true,
  });
  // Names that are like it only at first sight are other programs'.
  expect(existsSync(join(folder.path, "users", kept))).toBe(true);
  expect(await next.upkeep.strays()).toEqual([]);
});

/** Its folder must not go before. */
async function untilGone(path: string): Promise<void> {
  for await (const _event of watch(dirname(path))) if (!existsSync(path)) return;
}

test("the doctor's repair, and another erasure of the user, remove it too", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path, { retiresLeftOver: false });
  const plant = (): void => {
    const left = join(folder.path, "users", `.erased.${ownStore("alice")}.${Date.now()}.0badcafe`);
    mkdirSync(join(left, "memory"), { recursive: true });
    writeFileSync(join(left, "memory/a.md"), "x");
  };
  await fillAll(runtime, "bob");
  plant();
  expect(await runtime.upkeep.mendStrays()).toMatchObject([{ problem: "erase-unfinished" }]);
  expect(await runtime.upkeep.strays()).toEqual([]);
  plant();
  expect(await runtime.upkeep.planErase(alice)).toMatchObject({ contents: [] });
  expect(await runtime.upkeep.erase(alice)).toMatchObject({ contents: [], left: [] });
  expect(await runtime.upkeep.strays()).toEqual([]);
  await expect(runtime.upkeep.erase(alice)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
});

test("what cannot be removed is named, and removed when it can be", async (context) => {
  const disk = await loopDisk("tmpfs", { bytes: 4 * 2 ** 20 });
  if (typeof disk === "string") skipWithReason(context, disk);
  using mounted = disk;
  const dataDir = join(mounted.path, "data");
  await using runtime = await openAll(dataDir);
  await fillAll(runtime, "alice");
  await runtime.stores(bob).grant("alice");
  const point = join(userFolder(dataDir, "alice"), "memory/mounted");
  mkdirSync(point);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", point]);
  const [left = "", ...others] = (await runtime.upkeep.erase(alice)).left.map(
    ({ path, reason }) => `${path}: ${reason}`,
  );
  expect(others).toEqual([]);
  expect(left).toMatch(/^users\/\.erased\.\S+\/memory\/mounted: it is in use, for example as a mount point$/);
  expect(await runtime.upkeep.users()).toEqual(["bob"]);
  expect(await runtime.stores(bob).grants()).toEqual([]);
  expect(await runtime.upkeep.strays()).toMatchObject([{ path: expect.stringMatching(/^users\//) }, {}]);
  execFileSync("umount", [join(dataDir, left.split(": ")[0] ?? "")]);
  expect(await runtime.upkeep.mendStrays()).toHaveLength(2);
  expect(readdirSync(join(dataDir, "users"))).toEqual([]);
});

test("the grants of a store that cannot be read do not stop it, and are named", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path);
  await fillAll(runtime, "alice");
  await runtime.stores(bob).grant("alice");
  const grants = join(folder.path, "stores", ownStore("bob"), ".memcell/grants.json");
  const text = readFileSync(grants, "utf8");
  writeFileSync(grants, "damaged");
  const { left } = await runtime.upkeep.erase(alice);
  expect(left).toMatchObject([{ path: `stores/${ownStore("bob")}` }]);
  expect(await runtime.upkeep.planErase(alice)).toMatchObject({ contents: [] });
  writeFileSync(grants, text);
  expect(await runtime.upkeep.erase(alice)).toMatchObject({ left: [], granters: [ownStore("bob")] });
  expect(await runtime.stores(bob).grants()).toEqual([]);
});
