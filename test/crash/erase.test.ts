/** Users who are erased after a crash: an export has whole changes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import type { UserId } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { stepOf, stepsOf } from "./homes/step.ts";
import { boots, filesOn, subjects } from "./homes/subjects.ts";
import { alice } from "./homes/user.ts";
import { createRuntime, DiskRoot, openFiles } from "./host-under-test.ts";
import type { StoreUnderTest } from "./host-under-test.ts";
import { prepare } from "./kill/scenario.ts";
import { whyNoTracing } from "./strace.ts";

const reason = await whyNoTracing();
const [, nextBoot] = boots;
const until = (): number => performance.now() + 30_000;

async function eraseIn(store: StoreUnderTest, userId: UserId): Promise<void> {
  const left = await store.holdToErase(userId, { to: "remove", until: until() }, (held) => held.erase(1));
  expect(await store.erased.removeFiles(left)).toEqual([]);
  await store.erased.forget(left, true);
}

test("an erasure with an export finishes a change that a killed process has left", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const before = stepsOf("upsert a first; upsert b first");
  const killedIn = { step: stepOf("recreate a mended"), systemCall: "rename", ordinal: 2 };
  await prepare({ of: "user", before, killedIn }, dataDir);
  const half = filesOn(subjects.user, dataDir);
  expect(half.get("a.md") ?? "").not.toContain("mended");
  await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
  const file = join(folder.path, "a.zip");
  expect(await runtime.upkeep.erase({ userId: alice }, { export: file })).toMatchObject({ left: [] });
  const files = await readZip(readFileSync(file));
  const texts = files.map(({ scope, path, content }) => [`${scope}/${path}`, Buffer.from(content).toString()]);
  expect(Object.fromEntries(texts)).toMatchObject({
    "memory/a.md": expect.stringContaining("mended\n"),
    "memory/b.md": expect.stringContaining("first\n"),
    "memory/MEMORY.md": expect.stringMatching(/mended\n.*first\n|first\n.*mended\n/),
  });
  expect(filesOn(subjects.user, dataDir).size).toBe(0);
});

test("a user whose last change a killed process has left unfinished is erased without finishing it", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const killedIn = { step: stepOf("upsert a second"), systemCall: "renameat2", ordinal: 1 };
  await prepare({ of: "user", before: stepsOf("upsert a first"), killedIn }, dataDir);
  const notes: string[] = [];
  const note = (_owner: string, text: string): void => void notes.push(text);
  const store = openFiles(new DiskRoot(dataDir), { durability: "full", note }, nextBoot);
  await eraseIn(store, alice);
  // Nothing is replayed then, nor later.
  await store.holdUser(alice, { writes: true, until: until() }, async () => {});
  await store.close();
  expect({ notes, files: filesOn(subjects.user, dataDir) }).toEqual({ notes: [], files: new Map() });
});
