/** Users who are erased after a crash: what others share with them is finished, and an export has whole changes. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { readArchive, readZip } from "../stage/archive.ts";
import type { UserId } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createRuntime } from "./host-under-test.ts";
import { firstBoot, killedIn, nextBoot } from "./kill/scenario.ts";
import { indexFaults, userId } from "./memory-steps.ts";
import type { Step } from "./memory-steps.ts";
import { storeOf } from "./model/store-operation.ts";
import { DiskRoot, FileStore } from "./store-under-test.ts";
import { whyNoTracing } from "./strace.ts";
import { filesOf } from "./user-state.ts";

const reason = await whyNoTracing();

const put = (name: string, body: string): Step => ({
  kind: "change stores",
  operation: { do: "put", in: "ab", name, body },
});

/** Where a change of both stores was interrupted: store A leads. */
const points = {
  "before it was committed": { at: { name: "fdatasync", ordinal: 1 }, shown: "first\n" },
  "before its record was flushed": { at: { name: "fdatasync", ordinal: 2 }, shown: "second\n" },
  "when it was half applied": { at: { name: "renameat2", ordinal: 4 }, shown: "second\n" },
} as const;

const rows = Object.entries(points).flatMap(([when, point]) =>
  (["a", "b"] as const).flatMap((erased) =>
    [firstBoot, nextBoot].map((boot) => Object.assign({ when, erased, boot }, point)),
  ),
);

test.for(rows)(
  "a change of two stores that was killed $when is finished in the other one when the owner of $erased is erased, on the $boot",
  async ({ at, shown, erased, boot }, context) => {
    if (reason !== null) skipWithReason(context, reason);
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    await killedIn([put("one", "first")], put("one", "second"), at)(dataDir);
    const store = new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} }, boot);
    const until = performance.now() + 30_000;
    // The id of an own store is that of its user.
    const left = await store.holdToErase(storeOf(erased) as string as UserId, { to: "remove", until }, (held) =>
      held.erase(1),
    );
    expect(await store.erased.removeFiles(left)).toEqual([]);
    await store.erased.forget(left);
    const other = storeOf(erased === "a" ? "b" : "a");
    await store.shared.hold([other], { writes: true, until }, async (held) => {
      expect(Buffer.from((await held.reader(other).bytesOf("entries", "one.md")) ?? []).toString()).toBe(shown);
      expect(await held.findings(other)).toEqual([]);
    });
    await store.close();
    expect(Object.keys(filesOf(dataDir)).filter((path) => !path.includes(other))).toEqual([]);
  },
);

test("an erasure with an export finishes a change that a killed process has left", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const steps: Step[] = ["a", "b"].map((name) => ({ kind: "upsert", name, text: "first" }));
  await killedIn(steps, { kind: "mend", name: "a", text: "mended" }, { name: "rename", ordinal: 2 })(dataDir);
  expect(indexFaults(filesOf(dataDir))).not.toEqual([]);
  await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
  const file = join(folder.path, "a.zip");
  expect(await runtime.upkeep.erase({ userId }, { export: file })).toMatchObject({ left: [] });
  const files = await readZip(await readArchive(file));
  const texts = files.map(({ scope, path, content }) => [`${scope}/${path}`, Buffer.from(content).toString()]);
  expect(Object.fromEntries(texts)).toMatchObject({ "memory/a.md": "mended\n", "memory/b.md": "first\n" });
  expect(indexFaults(Object.fromEntries(texts) as Record<string, string>)).toEqual([]);
  expect(filesOf(dataDir)).toEqual({});
});

test("a user whose last change a killed process has left unfinished is erased without finishing it", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const step: Step = { kind: "upsert", name: "a", text: "second" };
  await killedIn([{ kind: "upsert", name: "a", text: "first" }], step, { name: "renameat2", ordinal: 1 })(dataDir);
  const notes: string[] = [];
  const store = new FileStore(
    new DiskRoot(dataDir),
    { durability: "full", note: (_, text) => notes.push(text) },
    nextBoot,
  );
  const until = performance.now() + 30_000;
  const left = await store.holdToErase(userId, { to: "remove", until }, (held) => held.erase(1));
  await store.erased.removeFiles(left);
  await store.erased.forget(left);
  // Nothing is replayed then, nor later.
  await store.hold(userId, { writes: true, until }, async () => {});
  await store.close();
  expect({ notes, files: filesOf(dataDir) }).toEqual({ notes: [], files: {} });
});
