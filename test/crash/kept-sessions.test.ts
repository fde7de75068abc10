/**
 * A session that is kept between two calls of a user. What a person does meanwhile is seen by the next call, nothing that
 * was acknowledged gets lost, and nobody waits for a session that is idle.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { decodeHead, headBytes, recordsStart } from "../../host/store/files/commit/wal-format.ts";
import type { UserId } from "../stage/store.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { moves, restores } from "./disturbed-folders.ts";
import type { Disturbance } from "./disturbed-folders.ts";
import { alice, codeOf, commit, entry, openStore, write } from "./small-disk-store.ts";
import { compiledScript } from "./store-under-test.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

/** Only what the tests do ends a session. */
const forLong = { idleMs: 60_000, ageMs: 60_000, sessionsMax: 32 };

const open = (dataDir: string, kept = forLong, boot = "boot"): StoreUnderTest => openStore(dataDir, { kept }, boot);

const own = (dataDir: string, name: string): string => join(userFolder(dataDir, alice), ".memcell", name);
const now = { writes: true, until: 0 };

const disturbances: readonly Disturbance[] = [{ name: "nothing happens", disturb: () => {} }, ...moves, ...restores];

test.for(disturbances)("a call after a kept session in which $name", async ({ disturb }) => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const backup = join(folder.path, "backup");
  const store = open(dataDir);
  await commit(store, entry("a", "one"));
  cpSync(userFolder(dataDir, alice), backup, { recursive: true });
  await commit(store, [...entry("b", "one"), write("a.md", "two")]);
  expect(openDescriptors(dataDir)).not.toEqual([]);

  disturb(dataDir, backup);
  const before = filesOf(dataDir);
  await commit(store, entry("c", "new"));
  const wanted = { ...before, "memory/c.md": "new", "memory/MEMORY.md": "index c" };
  expect(filesOf(dataDir)).toEqual(wanted);
  expect(recordsIn(readFileSync(own(dataDir, "journal")))).toContain("index c");

  const later = open(dataDir, forLong, "a later start");
  await store.close();
  await later.hold(alice, { writes: false, until: performance.now() + 10_000 }, () => Promise.resolve());
  expect(filesOf(dataDir)).toEqual(wanted);
  await later.close();
  expect(openDescriptors(folder.path)).toEqual([]);
});

/** The records that recovery would find: each begins where the one before it ends. */
function recordsIn(journal: Buffer): string {
  let end = recordsStart;
  for (let head = decodeHead(journal.subarray(end, end + headBytes)); head !== null;) {
    end += headBytes + head.bytes;
    head = decodeHead(journal.subarray(end, end + headBytes));
  }
  return journal.toString("utf8", recordsStart, end);
}

function filesOf(dataDir: string): Record<string, string> {
  try {
    return readUserFiles(dataDir, alice);
  } catch {
    return {};
  }
}

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

test("a process that gives up waiting leaves the turnstile to others", async () => {
  using folder = temporaryFolder();
  const [holder, other, third] = [open(folder.path), open(folder.path), open(folder.path)];
  await commit(holder, entry("a", "one"));
  await commit(holder, entry("a", "two"), async () => {
    expect(await codeOf(other.hold(alice, now, () => Promise.resolve()))).toBe("BUSY");
  });
  await holder.close();
  expect(await codeOf(third.hold(alice, now, () => Promise.resolve()))).toBe("ok");
  await Promise.all([other.close(), third.close()]);
});

test.for([
  ["looks only", { isLookingOnly: true }],
  ["reads only", { isReadOnly: true }],
  ["is thorough", { isThorough: true }],
] as const)("work of the same store that %s does not wait for a kept session", async ([, options]) => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  await commit(store, entry("a", "one"));
  expect(await codeOf(store.hold(alice, { writes: false, until: 0, ...options }, () => Promise.resolve()))).toBe("ok");
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
    await few.hold(user, { writes: true, until: performance.now() + 10_000 }, (held) =>
      held.commit(entry("a", "x"), []),
    );
  }
  const homes = new Set(openDescriptors(folder.path).map((path) => /users\/(user-\d)/.exec(path)?.[1]));
  expect(homes).toEqual(new Set(["user-7", "user-8", "user-9"]));
  await few.close();
  expect(openDescriptors(folder.path)).toEqual([]);
});

test("a session is released when it was idle", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path, { ...forLong, idleMs: 1 });
  const other = open(folder.path);
  await commit(store, entry("a", "one"));
  await commit(other, entry("b", "one"));
  await Promise.all([store.close(), other.close()]);
});

test("a process that is killed while it keeps 32 sessions holds nobody up, and loses nothing", async () => {
  using folder = temporaryFolder();
  const userIds = Array.from({ length: 32 }, (_, at) => `user-${at}` as UserId);
  const input = JSON.stringify({ dataDir: folder.path, userIds });
  const keeper = spawn(process.execPath, [compiledScript("keeping-process.js"), input], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(keeper.stdout, "data");
  const store = open(folder.path);
  const holdNow = (user: UserId): Promise<string> => codeOf(store.hold(user, now, () => Promise.resolve()));
  for (const user of userIds) expect(await holdNow(user)).toBe("BUSY");
  keeper.kill("SIGKILL");
  await once(keeper, "exit");
  for (const user of userIds) {
    expect(await holdNow(user)).toBe("ok");
    expect(readUserFiles(folder.path, user)).toEqual({ "memory/a.md": `of ${user}` });
  }
  await store.close();
});
