/**
 * A session that is kept between two calls of a user: nobody waits for one that is idle. What a person does meanwhile is in
 * `disturbed-folders.test.ts`, and what happens if its process is killed in `kill/`.
 */
import { expect, test } from "vitest";

import type { UserId } from "../stage/store.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";
import { alice, codeOf, commit, entry, openStore, write } from "./small-disk-store.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

/** Only what the tests do ends a session. */
const forLong = { idleMs: 60_000, ageMs: 60_000, sessionsMax: 32 };

const open = (dataDir: string, kept = forLong): StoreUnderTest => openStore(dataDir, { kept });

test("whoever waits gets the lock between two calls of a process that makes one after the other", async () => {
  using folder = temporaryFolder();
  const [busy, other] = [open(folder.path), open(folder.path)];
  await commit(busy, entry("a", "0"));
  const served = { after: -1 };
  let calls = 0;
  const waiting = commit(other, [write("other.md", "served")]).then(() => (served.after = calls));
  for (; served.after < 0 && calls < 1_000; calls++) await commit(busy, entry("a", `${calls}`));
  await waiting;
  console.log(`served after ${calls} calls of the other`);
  expect(calls).toBeLessThan(50);
  await Promise.all([busy.close(), other.close()]);
});

test.for([
  ["looks only", { isLookingOnly: true }],
  ["reads only", { isReadOnly: true }],
  ["is thorough", { isThorough: true }],
] as const)("work of the same store that %s does not wait for a kept session", async ([, options]) => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  await commit(store, entry("a", "one"));
  expect(await codeOf(store.holdUser(alice, { writes: false, until: 0, ...options }, () => Promise.resolve()))).toBe(
    "ok",
  );
  await store.close();
});

test("an erasure does not wait for a kept session, and the next call begins anew", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  await commit(store, entry("a", "one"));
  await store.holdToErase(alice, { to: "remove", until: 0 }, (held) => held.erase(0));
  await commit(store, [write("b.md", "anew")]);
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/b.md": "anew" });
  await store.close();
});

test("a session whose call has failed is not kept", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  await commit(store, entry("a", "one"));
  const failing = commit(store, entry("a", "two"), () => {
    throw new RangeError("the guest's answer is of no use");
  });
  await expect(failing).rejects.toThrow("of no use");
  expect(openDescriptors(folder.path)).toEqual([]);
  await store.close();
});

test("a session that is older than it may be is not kept, and neither are more than may be", async () => {
  using folder = temporaryFolder();
  const old = open(folder.path, { ...forLong, ageMs: 0 });
  await commit(old, entry("a", "one"));
  expect(openDescriptors(folder.path)).toEqual([]);
  await old.close();

  const few = open(folder.path, { ...forLong, sessionsMax: 3 });
  const users = Array.from({ length: 10 }, (_, at) => `user-${at}` as UserId);
  for (const user of users) {
    await few.holdUser(user, { writes: true, until: performance.now() + 10_000 }, (held) =>
      held.commit(entry("a", "x"), []),
    );
  }
  const homes = new Set(openDescriptors(folder.path).map((path) => /users\/(user-\d)/.exec(path)?.[1]));
  expect(homes).toEqual(new Set(["user-7", "user-8", "user-9"]));
  await few.close();
  expect(openDescriptors(folder.path)).toEqual([]);
});
