/** Many users there and back, killed in the middle. `TEST_LONG=1` takes 1,000 users. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { fileStore } from "memcell";
import { expect, test } from "vitest";

import { isLong } from "../stage/seed.ts";
import { ownStoreOf } from "../stage/store.ts";
import type { ChangeSet, UserId } from "../stage/store.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { countedDatabase, killWhen } from "./kill-copy.ts";
import { copy } from "./memcell-copy.ts";
import { treeOf } from "./stored-state.ts";

const usersCount = isLong ? 1_000 : 150;
/** Every fourth user has a store. */
const homesCount = usersCount + Math.ceil(usersCount / 4);

test(`${usersCount} users go into a database and back, killed on the way`, { timeout: 1_200_000 }, async () => {
  using folder = temporaryFolder();
  const [data, back] = [join(folder.path, "data"), join(folder.path, "back")];
  await timed("made", () => fill(data));
  const files = Object.keys(treeOf(data));
  const bytes = files.reduce((sum, name) => sum + lstatSync(join(data, name)).size, 0);
  console.log(`${homesCount} homes, ${files.length} files, ${bytes} bytes`);
  const url = await freshDatabase();
  await using target = await countedDatabase(url);

  await timed("into the database, killed at half", () =>
    killWhen(data, url, async () => (await target.homes()) > homesCount / 2),
  );
  await timed("into the database, completed", () => completes(data, url));
  expect(await target.homes()).toBe(homesCount);
  const homesBack = (): number => namesIn(join(back, "users")).length;
  await timed("back, killed at half", () => killWhen(url, back, () => homesBack() > usersCount / 2));
  await timed("back, completed", () => completes(url, back));
  expect(treeOf(back)).toEqual(treeOf(data));
});

async function completes(from: string, to: string): Promise<void> {
  const { status, stdout } = copy(from, to);
  console.log(stdout.trimEnd());
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/; 0 listed\n$/) });
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const beganMs = performance.now();
  await work();
  console.log(`${what}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`);
}

/** Ten files for each user in three change sets, of which one changes what another has written. */
async function fill(dir: string): Promise<void> {
  const store = fileStore({ dir, durability: "relaxed" }).open(() => {});
  for (let at = 0; at < usersCount; at++) {
    const userId = `user-${at}` as UserId;
    await store.hold(userId, options(), async (held) => {
      for (const round of [1, 2, 3]) await held.commit(changesIn("memory", userId, round), []);
    });
    if (at % 4 > 0) continue;
    const id = ownStoreOf(userId);
    await store.shared.hold([id], options(), (held) =>
      held.commit({ by: userId, changes: changesIn(`store:${id}`, userId, 1), seen: held.seen }),
    );
  }
  await store.close();
}

const options = () => ({ writes: true, until: performance.now() + 30_000 });

const changesIn = (scope: string, userId: string, round: number): ChangeSet =>
  Array.from({ length: 5 }, (_, at) => ({
    kind: "write",
    scope,
    path: round === 3 ? `entry-1-${at}.md` : `entry-${round}-${at}.md`,
    content: `${userId} ${round}\n`.repeat(80),
  }));

const namesIn = (dir: string): string[] => {
  try {
    return readdirSync(dir).filter((name) => !name.startsWith("."));
  } catch {
    return [];
  }
};
