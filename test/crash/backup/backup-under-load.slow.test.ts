/**
 * A backup in each of the ways that `host/cli/README.md` names, made while calls change the folder, and restored. Then
 * every entry is as it was at some moment while the backup was made, and everything works.
 */
import { join } from "node:path";

import { expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import { loopDisk } from "../../support/loop-disk.ts";
import { mountFolder } from "../../support/mount-folder.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { requirePackages } from "../../support/system-packages.ts";
import { readUserFiles } from "../../support/user-files.ts";
import { createRuntime } from "../host-under-test.ts";
import { shownIn } from "../kill/entry-history.ts";
import { LoadedProcess } from "../kill/loaded-process.ts";
import { ways } from "./ways.ts";

const users = ["alice", "bob", "carol", "dave"];
const entries = [1, 2, 3, 4, 5, 6].map((number) => `entry-${number}`);
const firstCalls = Object.fromEntries(entries.map((entry) => [entry, 1]));
const rounds = isLong ? 100 : 3;

test.for(ways)("a backup under load, by $name", { timeout: rounds * 60_000 }, async (way, context) => {
  const disk = (await requirePackages(way.needs ?? {})) ?? (await loopDisk("ext4", { bytes: 96 * 2 ** 20 }));
  if (typeof disk === "string") return skipWithReason(context, disk);
  using _disk = disk;
  const dataDir = join(disk.path, "data");
  const callers = Object.fromEntries(users.map((user) => [user, firstCalls]));
  const load = new LoadedProcess({ dataDir, callers });
  try {
    await load.start();
    let mended = 0;
    const times = way.isForStopped ? 1 : rounds;
    for (let round = 0; round < times; round++) {
      using folder = mountFolder();
      await load.progress(100);
      if (way.isForStopped) await load.kill();
      const before = new Map(load.done);
      const restore = await way.take({ disk, dataDir, users, backup: folder.path });
      // Until then the process has told every call that can be in the backup.
      if (!way.isForStopped) await load.progress(users.length * entries.length);
      const restored = await restore(join(folder.path, "restored"));
      mended += await useAll(restored, way.isOfOneMoment);
      for (const user of users) {
        const files = readUserFiles(restored, user);
        checkEntries({ user, files, isOfOneMoment: way.isOfOneMoment }, before, load.done);
      }
    }
    console.log(`${way.name}: ${times * users.length} users restored, ${mended} of them had something to mend`);
    expect(load.failures).toEqual([]);
  } finally {
    await load.kill();
  }
});

/** Calls, the doctor and, where it may be necessary, its repairs. Returns for how many users it was. */
async function useAll(dataDir: string, isOfOneMoment: boolean): Promise<number> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  let mended = 0;
  for (const userId of users) {
    const problems = async (): Promise<unknown[]> =>
      (await runtime.upkeep.inspect({ userId })).filter(({ problem }) => problem !== "journal-in-use");
    const store = { action: "upsert", name: "new", type: "user", description: "after the restoring", body: "" };
    expect(await runtime.call("UpdateUserMemory", store, { userId })).toMatchObject({ ok: true });
    if (isOfOneMoment) expect(await problems()).toEqual([]);
    if ((await runtime.upkeep.mend({ userId })).length > 0) mended++;
    expect(await problems()).toEqual([]);
  }
  return mended;
}

type Counts = ReadonlyMap<string, number>;

/** Each entry shows a call from the last before the backup to the last after it. */
function checkEntries({ user, isOfOneMoment, files }: Restored, before: Counts, after: Counts): void {
  for (const entry of entries) {
    const [from, to] = [before, after].map((counts) => counts.get(`${user} ${entry}`) ?? 0) as [number, number];
    const { file, line } = shownIn(files, entry);
    if (isOfOneMoment) expect(file, `${entry} of ${user}`).toBe(line);
    for (const shown of [file, line]) {
      expect(shown, `${entry} of ${user}`).toBeGreaterThanOrEqual(from);
      // A killed process can have made one more than it told.
      expect(shown, `${entry} of ${user}`).toBeLessThanOrEqual(to + 1);
    }
  }
}

interface Restored {
  readonly user: string;
  readonly isOfOneMoment: boolean;
  readonly files: Readonly<Record<string, string>>;
}
