/** The folder is on another disk than the data folder, on a read-only disk, or on one that folds case. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { diskOr } from "../crash/small-disk-store.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { alice, filesBelow, mountedStage, play, read, write } from "./mounted-stage.ts";

const bytes = 4 * 2 ** 20;

test.for(["tmpfs", "ext4"] as const)("the folder is on its own %s disk", async (kind, context) => {
  using stage = mountedStage();
  using disk = await diskOr(context, kind, { bytes });
  const dir = join(disk.path, "ws");
  await using runtime = await stage.open({ mounts: [{ ...alice, scope: "journal", dir }] });
  for (const text of ["one", "two"]) {
    expect(await play(runtime, [write("2026/a.md", text)])).toMatchObject({ ok: true });
  }
  expect(filesBelow(dir)).toEqual({ "2026/a.md": "two" });
  expect(readdirSync(join(dir, ".memcell")).filter((name) => name.startsWith("staged-"))).toEqual([]);
});

test.for([true, false])(
  "reads a read-only disk and refuses to write to it (used before: %s)",
  async (used, context) => {
    using stage = mountedStage();
    using disk = await diskOr(context, "tmpfs", { bytes });
    const mounts = [{ ...alice, scope: "journal", dir: disk.path }];
    const put = await stage.open({ mounts });
    if (used) expect(await play(put, [write("a.md", "one")])).toMatchObject({ ok: true });
    await put.close();
    await disk.remountReadOnly();
    const before = treeFingerprint(disk.path);
    await using runtime = await stage.open({ mounts });
    expect(await play(runtime, [read("a.md")], "alice", "ReadingPuppet")).toMatchObject({
      ok: true,
      data: [{ content: used ? "one" : null }],
    });
    expect(await play(runtime, [write("a.md", "two")])).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED" } });
    expect(treeFingerprint(disk.path)).toEqual(before);
  },
);

test("on a disk that folds case, a name in another case reads as absent and cannot be written, and .memcell stays hidden", async (context) => {
  using stage = mountedStage();
  using disk = await diskOr(context, "exfat", { bytes });
  const dir = join(disk.path, "ws");
  await using runtime = await stage.open({ mounts: [{ ...alice, scope: "journal", dir }] });
  expect(await play(runtime, [write("MEMORY.md", "one")])).toMatchObject({ ok: true });
  expect(await play(runtime, [read("memory.md")])).toMatchObject({ ok: true, data: [{ content: null }] });
  expect(await play(runtime, [write("memory.md", "two")])).toMatchObject({
    ok: false,
    error: { code: "NAME_CONFLICT" },
  });
  expect(await play(runtime, [write("MEMORY.md", "three")])).toMatchObject({ ok: true });
  expect(filesBelow(dir)).toEqual({ "MEMORY.md": "three" });
});
