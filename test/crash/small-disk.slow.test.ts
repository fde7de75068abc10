/** On a full disk a purge and an erasure succeed, and then there is room again. */
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ToolResult } from "../stage/store.ts";
import { createRuntime } from "./host-under-test.ts";
import { alice, diskOr, fillUp } from "./small-disk-store.ts";

const kib = 1024;

test.for(
  ["a purge", "an erasure"].flatMap((work) => [
    { work, kind: "tmpfs" as const, bytes: 2048 * kib, isNewProcess: false },
    { work, kind: "ext4" as const, bytes: 4096 * kib, isNewProcess: true },
  ]),
)("$work makes room on a full disk, $kind, new process: $isNewProcess", async (of, context) => {
  using disk = await diskOr(context, of.kind, of);
  const dataDir = join(disk.path, "data");
  const ctx = { userId: alice };
  const open = () => createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1 });
  await using former = await open();
  for (const userId of [alice, "bob"]) {
    for (const name of userId === alice ? ["kept", "gone"] : ["kept"]) {
      expect(await former.call("UpdateUserMemory", upsert(name), { userId })).toMatchObject({ ok: true });
      expect(await former.call("memory", create(name), { userId })).toMatchObject({ ok: true });
    }
  }
  await former.stores({ userId: "bob" }).grant(alice);
  await former.call("UpdateUserMemory", { action: "delete", name: "gone" }, ctx);
  await former.call("memory", { command: "delete", path: "/memories/gone" }, ctx);
  await using later = await open();
  const runtime = of.isNewProcess ? later : former;
  const store = (): Promise<ToolResult> => runtime.call("UpdateUserMemory", upsert("more"), ctx);
  let last: ToolResult;
  // The retirement of the write-ahead log makes room once more.
  do fillUp(join(disk.path, "ballast"));
  while ((last = await store()).ok);
  expect(last).toMatchObject({ error: { code: "STORAGE_FULL" } });
  fillUp(join(disk.path, "ballast"));
  if (of.work === "a purge") {
    const purged = await runtime.upkeep.purge(ctx, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
    expect(purged.map(({ scope }) => scope).toSorted()).toEqual(["memory", "store"]);
    expect(await runtime.upkeep.listTrash(ctx)).toEqual([]);
  } else {
    expect(await runtime.upkeep.erase(ctx)).toMatchObject({ left: [] });
    expect(await runtime.upkeep.users()).toEqual(["bob"]);
    // What it has freed is enough to change the grants of others.
    expect(await runtime.stores({ userId: "bob" }).grants()).toEqual([]);
    expect(await runtime.upkeep.strays()).toEqual([]);
  }
  expect(await store()).toMatchObject({ ok: true });
  expect((await runtime.upkeep.inspect(ctx)).filter(({ problem }) => problem !== "wal-in-use")).toEqual([]);
});

const upsert = (name: string): object => ({ action: "upsert", name, type: "user", description: "d", body: long });
const create = (name: string): object => ({ command: "create", path: `/memories/${name}`, content: long });
const long = "x".repeat(20_000);
