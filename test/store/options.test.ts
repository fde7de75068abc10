/** A runtime gets a store or a data folder, and only the options that fit it. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { cwd } from "node:process";

import { createRuntime, fileStore, memoryStore } from "memcell";
import type { RuntimeOptions } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";

const upsert = (name: string, body = ""): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "d",
  body,
});

test.each([
  { name: "neither a store nor a data folder", options: {}, says: "needs a dataDir or a store" },
  { name: "both", options: { store: memoryStore(), dataDir: "data" }, says: "has a store and dataDir" },
  { name: "a store and mounts", options: { store: memoryStore(), mounts: [] }, says: "has a store and mounts" },
  { name: "the function itself", options: { store: memoryStore }, says: "store is not what" },
  {
    name: "another program's store",
    options: { store: { location: { kind: "disk" } } },
    says: "store is not what",
  },
])("$name is a TypeError", async ({ options, says }) => {
  const creating = createRuntime(options as RuntimeOptions);
  await expect(creating).rejects.toThrow(TypeError);
  await expect(creating).rejects.toThrow(says);
});

test("fileStore refuses what is no folder, and a mount in its folder, at once", () => {
  const mounts = [{ userId: "alice", scope: "memory", dir: "data/notes" }];
  for (const options of [{ dir: "" }, { dir: "data", durability: "some" }, { dir: "data", mounts }]) {
    expect(() => fileStore(options as never)).toThrow(/dir|durability is some/);
  }
});

test("fileStore keeps the same files as dataDir, and resolves its folder at once", async () => {
  using folder = temporaryFolder();
  const store = fileStore({ dir: relative(cwd(), join(folder.path, "data")), durability: "relaxed" });
  expect(existsSync(join(folder.path, "data"))).toBe(false);
  {
    await using runtime = await createRuntime({ store, threadsMax: 1 });
    expect(await runtime.call("UpdateUserMemory", upsert("one"), { userId: "alice" })).toMatchObject({ ok: true });
  }
  expect(Object.keys(readUserFiles(join(folder.path, "data"), "alice"))).toContain("memory/one.md");
  await using runtime = await createRuntime({ dataDir: join(folder.path, "data"), threadsMax: 1 });
  expect(await runtime.memoryIndex({ userId: "alice" })).toContain("one.md");
});

test("runtimes with the same memoryStore share it, next to an audit log; another store is empty", async () => {
  using folder = temporaryFolder();
  const store = memoryStore();
  {
    const auditLog = { file: join(folder.path, "log", "audit.jsonl") };
    await using runtime = await createRuntime({ store, auditLog, threadsMax: 2 });
    await using other = await createRuntime({ store, threadsMax: 1 });
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    const results = await Promise.all(
      names.map((name, at) =>
        (at % 2 === 0 ? runtime : other).call("UpdateUserMemory", upsert(name), { userId: "alice" }),
      ),
    );
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    expect(existsSync(auditLog.file)).toBe(true);
  }
  await using later = await createRuntime({ store, threadsMax: 1 });
  expect(await later.memoryEntries({ userId: "alice" })).toHaveLength(20);
  expect(await later.upkeep.users()).toEqual(["alice"]);
  expect(await later.upkeep.inspect({ userId: "alice" })).toEqual([]);
  await using empty = await createRuntime({ store: memoryStore(), threadsMax: 1 });
  expect(await empty.memoryEntries({ userId: "alice" })).toEqual([]);
});
