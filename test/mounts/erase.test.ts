/** Erasing a user with a mounted scope: the mounted folder is somebody's own, so it stays, and is named. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { readArchive, readZip } from "../stage/archive.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { alice, journalPuppet, mountedStage, play, write } from "./mounted-stage.ts";

test("a mounted folder stays as it is, also if the data folder has one of its name, and is in the export", async () => {
  using stage = mountedStage();
  const plugins = [shippedPlugin("user-memory"), journalPuppet(stage.path)];
  const { dataDir, mounts } = stage;
  await using runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), mounts, threadsMax: 1 });
  const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "x" };
  expect(await runtime.call("UpdateUserMemory", entry, alice)).toMatchObject({ ok: true });
  expect(await play(runtime, [write("a.md", "in the workspace")])).toMatchObject({ ok: true });
  mkdirSync(join(stage.dir, ".git"));
  writeFileSync(join(stage.dir, ".git/config"), "x");
  const before = treeFingerprint(stage.dir);

  expect(await runtime.upkeep.planErase(alice)).toMatchObject({ mounted: ["journal"] });
  const file = join(stage.path, "a.zip");
  expect(await runtime.upkeep.erase(alice, { export: file })).toMatchObject({ mounted: ["journal"], left: [] });
  const exported = await readZip(await readArchive(file));
  expect(exported.map(({ scope, path }) => `${scope}/${path}`)).toEqual([
    "journal/a.md",
    "memory/MEMORY.md",
    "memory/a.md",
  ]);
  expect(treeFingerprint(stage.dir)).toEqual(before);
  expect(userFolderNames(dataDir)).toEqual([]);
  expect(await play(runtime, [write("b.md", "goes on")])).toMatchObject({ ok: true });

  // Only the mounted folder is left, and it is not the data folder's.
  await expect(runtime.upkeep.erase(alice)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  writeUserFiles(dataDir, { alice: { "journal/hidden.md": "by hand" } });
  await expect(runtime.upkeep.erase(alice, { export: join(stage.path, "b.zip") })).rejects.toMatchObject({
    code: "STORAGE_UNSAFE",
    message: expect.stringContaining("another folder stands for this scope"),
  });
  expect(await runtime.upkeep.erase(alice)).toMatchObject({ left: [] });
  expect(userFolderNames(dataDir)).toEqual([]);
  expect(readdirSync(stage.dir)).toEqual(expect.arrayContaining([".memcell", "a.md", "b.md"]));
});
