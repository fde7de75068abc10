/**
 * A disk that has become read-only: files can be read, a change is a coded error without effect, and the same runtime
 * continues when the disk is writable again.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";

import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";
import { createRuntime } from "./host-under-test.ts";
import { alice, diskOr } from "./small-disk-store.ts";

const ctx = { userId: alice };
const upsert = (name: string, body: string) => ({ action: "upsert", name, type: "user", description: body, body });

async function expectOnlyRead(runtime: Runtime): Promise<void> {
  expect(await runtime.call("ReadUserMemory", { name: "a" }, ctx)).toMatchObject({ ok: true, data: { body: "one" } });
  expect(await runtime.memoryIndex(ctx)).toContain("one");
  const refused = { ok: false, error: { code: "STORAGE_FAILED", blame: "host" } };
  for (const input of [upsert("a", "two"), upsert("b", "two"), { action: "delete", name: "a" }]) {
    expect(await runtime.call("UpdateUserMemory", input, ctx)).toMatchObject(refused);
  }
  const stranger = { userId: "stranger" };
  expect(await runtime.call("UpdateUserMemory", upsert("a", "x"), stranger)).toMatchObject(refused);
}

test.for(["tmpfs", "ext4"] as const)("a read-only %s disk is read, but not written to", async (kind, context) => {
  using disk = await diskOr(context, kind, { bytes: 4 * 2 ** 20 });
  const dataDir = join(disk.path, "data");
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  await using other = await createRuntime({ dataDir, threadsMax: 1 });
  for (const round of [1, 2]) {
    expect(await runtime.call("UpdateUserMemory", upsert("a", "one"), ctx)).toMatchObject({ ok: true });
    const before = treeFingerprint(dataDir);
    await disk.remountReadOnly();
    for (const each of [runtime, other]) await expectOnlyRead(each);
    expect(treeFingerprint(dataDir)).toEqual(before);
    if (kind === "ext4") return;
    await runCommand("mount", ["-o", "remount,bind,rw", disk.path]);
    expect(await runtime.call("UpdateUserMemory", upsert(`c${round}`, "three"), ctx)).toMatchObject({ ok: true });
  }
});

test.for([".memcell", ".memcell/lock", ".memcell/turnstile", ".memcell/journal"])(
  "on a read-only disk a user without %s is read",
  async (lacking, context) => {
    using disk = await diskOr(context, "tmpfs", { bytes: 4 * 2 ** 20 });
    const dataDir = join(disk.path, "data");
    {
      await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
      await runtime.call("UpdateUserMemory", upsert("a", "one"), ctx);
    }
    rmSync(join(userFolder(dataDir, alice), lacking), { recursive: true });
    await disk.remountReadOnly();
    await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
    await expectOnlyRead(runtime);
  },
);
