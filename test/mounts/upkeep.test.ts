/** The doctor, the trash, exports, imports and an erasure for a user whose memory, or another scope, is mounted. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Mount, Runtime } from "memcell";
import { expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { alice, journalPuppet, mountedStage, play, write } from "./mounted-stage.ts";
import type { MountedStage } from "./mounted-stage.ts";

/** Opens the shipped memory plugin and a puppet with the journal. */
function open(stage: MountedStage, mounts: readonly Mount[]): Promise<Runtime> {
  const plugins = [shippedPlugin("user-memory"), journalPuppet(stage.path)];
  return createRuntime({ dataDir: stage.dataDir, plugins, policy: policyFor(plugins), mounts, threadsMax: 1 });
}

const upsert = (runtime: Runtime, name: string, userId = "alice"): Promise<unknown> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, type: "user", description: "d", body: name }, { userId });

test("mounted memory can be written, deleted, restored, purged, exported, imported and repaired", async () => {
  using stage = mountedStage("memory");
  await using runtime = await open(stage, stage.mounts);
  for (const name of ["a", "b"]) expect(await upsert(runtime, name)).toMatchObject({ ok: true });
  expect(await upsert(runtime, "a", "bob")).toMatchObject({ ok: true });
  expect(await runtime.memoryIndex(alice)).toContain("[b](b.md)");
  expect(await runtime.call("UpdateUserMemory", { action: "delete", name: "b" }, alice)).toMatchObject({ ok: true });
  expect(await runtime.upkeep.listTrash(alice)).toMatchObject([{ path: "b.md" }]);
  const exported = await runtime.upkeep.export(alice);
  // The host's own folder is among the files and is not part of the user's memory.
  expect(exported.leftOut).toEqual([]);
  expect(exported.files.map(({ path }) => path)).toEqual(["MEMORY.md", "a.md", expect.stringMatching(/^trash\/b\./)]);
  await runtime.upkeep.restore(alice, "b");
  expect(await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, alice)).toMatchObject({ ok: true });
  expect(await runtime.upkeep.purge(alice, { beforeEpochMs: Date.now() + 1_000 })).toMatchObject([{ path: "a.md" }]);
  const plan = await runtime.upkeep.import(alice, exported.files);
  expect(plan).toMatchObject({ created: ["memory/a.md"], refused: [] });
  expect(Object.keys(stage.files())).toEqual(["MEMORY.md", "a.md", "b.md", expect.stringMatching(/^trash\/b\./)]);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(userFolderNames(stage.dataDir)).toEqual(["bob"]);
  expect(await runtime.upkeep.users()).toEqual(["alice", "bob"]);
});

test.for(["memory", "journal"])("the doctor finds and repairs problems in a mounted %s", async (scope) => {
  using stage = mountedStage(scope);
  await using runtime = await open(stage, stage.mounts);
  expect(await upsert(runtime, "a")).toMatchObject({ ok: true });
  expect(await play(runtime, [write("a.md", "of alice")])).toMatchObject({ ok: true });
  writeFileSync(join(stage.dir, ".memcell/staged-0"), "left over");
  writeFileSync(join(stage.dataDir, "users/alice/.memcell/staged-0"), "left over");
  symlinkSync("/etc/passwd", join(stage.dir, "link.md"));
  const findings = (await runtime.upkeep.inspect(alice)).map(({ problem, path }) => `${problem} ${path}`);
  expect(findings).toEqual(
    expect.arrayContaining([
      "temporary-file .memcell/staged-0",
      `not-a-plain-file ${scope}/link.md`,
      `temporary-file ${scope}/.memcell/staged-0`,
    ]),
  );
  expect(JSON.stringify(findings)).not.toContain(stage.path);
  const mended = (await runtime.upkeep.mend(alice)).map(({ path }) => path).toSorted();
  expect(mended).toEqual([".memcell/staged-0", `${scope}/.memcell/staged-0`].toSorted());
  expect(readdirSync(join(stage.dir, ".memcell"))).not.toContain("staged-0");
  expect(await runtime.upkeep.inspect(alice)).toMatchObject([{ problem: "not-a-plain-file" }]);
});

test("a mounted folder stays as it is when its user is erased, also if the data folder has one of its name, and is in the export", async () => {
  using stage = mountedStage();
  const { dataDir, mounts } = stage;
  await using runtime = await open(stage, mounts);
  expect(await upsert(runtime, "a")).toMatchObject({ ok: true });
  expect(await play(runtime, [write("a.md", "in the workspace")])).toMatchObject({ ok: true });
  mkdirSync(join(stage.dir, ".git"));
  writeFileSync(join(stage.dir, ".git/config"), "x");
  const before = treeFingerprint(stage.dir);

  expect(await runtime.upkeep.planErase(alice)).toMatchObject({ mounted: ["journal"] });
  const file = join(stage.path, "a.zip");
  expect(await runtime.upkeep.erase(alice, { export: file })).toMatchObject({ mounted: ["journal"], left: [] });
  const exported = await readZip(readFileSync(file));
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
