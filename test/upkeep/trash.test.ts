/** The trash for the data's owner: listed, restored, purged. */
import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

/** Runs with a clock that the test sets. */
async function withRuntime(work: (runtime: Runtime, at: { epochMs: number }, dataDir: string) => Promise<void>) {
  using folder = temporaryFolder();
  const at = { epochMs: start };
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, clock: () => at.epochMs });
  await work(runtime, at, folder.path);
}

async function upsert(runtime: Runtime, name: string, body: string): Promise<void> {
  const input = { action: "upsert", name, type: "user", description: `about ${name}`, body };
  expect(await runtime.call("UpdateUserMemory", input, alice)).toMatchObject({ ok: true });
}

async function remove(runtime: Runtime, name: string): Promise<void> {
  expect(await runtime.call("UpdateUserMemory", { action: "delete", name }, alice)).toMatchObject({ ok: true });
}

const names = (files: readonly { name: string }[]): string[] => files.map(({ name }) => name);

test("restore() puts an entry back byte for byte, lists it again, and takes it out of the trash", async () => {
  await withRuntime(async (runtime, _at, dataDir) => {
    await upsert(runtime, "keep", "k");
    await upsert(runtime, "a", "line\r\n--- \n\n");
    const before = readUserFiles(dataDir, "alice");
    await remove(runtime, "a");
    const [file] = await runtime.upkeep.listTrash(alice);
    expect(file).toMatchObject({ name: "a.20260101T000000000Z.md", path: "a.md", epochMs: start });
    expect(await runtime.upkeep.restore(alice, file?.name ?? "")).toEqual(file);
    expect(readUserFiles(dataDir, "alice")).toEqual(before);
    expect(await runtime.upkeep.listTrash(alice)).toEqual([]);
  });
});

test("restore() by an entry's name takes the latest trashed one", async () => {
  await withRuntime(async (runtime, at) => {
    for (const body of ["first", "second"]) {
      await upsert(runtime, "a", body);
      await remove(runtime, "a");
      at.epochMs += day;
    }
    await runtime.upkeep.restore(alice, "a");
    expect(await runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject({ data: { body: "second" } });
    expect(names(await runtime.upkeep.listTrash(alice))).toEqual(["a.20260101T000000000Z.md"]);
  });
});

test("restore() refuses what is missing, what is not an entry, and a taken name; nothing changes", async () => {
  await withRuntime(async (runtime, _at, dataDir) => {
    await upsert(runtime, "a", "old");
    await remove(runtime, "a");
    await upsert(runtime, "A", "new");
    const before = readUserFiles(dataDir, "alice");
    for (const [name, code] of [
      ["a", "NAME_CONFLICT"],
      ["b", "ENTRY_NOT_FOUND"],
      ["../../bob/memory/trash/a.20260101T000000000Z.md", "ENTRY_NOT_FOUND"],
      ["", "ENTRY_NOT_FOUND"],
    ] as const) {
      await expect(runtime.upkeep.restore(alice, name)).rejects.toMatchObject({ code });
    }
    expect(readUserFiles(dataDir, "alice")).toEqual(before);
  });
});

test("restore() puts back byte for byte what its plugin does not keep, and what is not text", async () => {
  await withRuntime(async (runtime, _at, dataDir) => {
    const files = {
      "memory/trash/MEMORY.20250101T000000000Z.md": "# mine\r\n",
      "memory/trash/x.20250101T000000000Z.txt": "x",
    };
    writeUserFiles(dataDir, { alice: files });
    const bytes = Buffer.from([0xff, 0xfe, 0x00]);
    const memory = join(userFolder(dataDir, "alice"), "memory");
    writeFileSync(join(memory, "trash/b.20250101T000000000Z.md"), bytes);
    for (const { name } of await runtime.upkeep.listTrash(alice)) await runtime.upkeep.restore(alice, name);
    expect(readUserFiles(dataDir, "alice")).toMatchObject({ "memory/MEMORY.md": "# mine\r\n", "memory/x.txt": "x" });
    expect(readFileSync(join(memory, "b.md"))).toEqual(bytes);
    expect(await runtime.upkeep.listTrash(alice)).toEqual([]);
    // An existing file stays.
    writeUserFiles(dataDir, { alice: files });
    const taken = runtime.upkeep.restore(alice, "MEMORY.20250101T000000000Z.md");
    await expect(taken).rejects.toMatchObject({ code: "NAME_CONFLICT" });
    expect(readUserFiles(dataDir, "alice")).toMatchObject(files);
  });
});

test.for(["memory", "notes"])(
  "refuses to restore a trashed file of %s to the trash, where nobody would find it",
  async (scope) => {
    await withRuntime(async (runtime, _at, dataDir) => {
      const files = Object.fromEntries(
        ["trash", "TRASH"].map((folder) => [`${scope}/trash/${folder}/x.20250101T000000000Z.md`, "x"]),
      );
      writeUserFiles(dataDir, { alice: files });
      for (const folder of ["trash", "TRASH"]) {
        const name = `${folder}/x.20250101T000000000Z.md`;
        const message = `Cannot restore "${name}": "${folder}/x.md", where it lay, is in the trash itself`;
        await expect(runtime.upkeep.restore(alice, name)).rejects.toMatchObject({ code: "INPUT_INVALID", message });
      }
      expect(readUserFiles(dataDir, "alice")).toEqual(files);
      const listed = names(await runtime.upkeep.listTrash(alice));
      expect(listed).toEqual(["trash/x.20250101T000000000Z.md", "TRASH/x.20250101T000000000Z.md"]);
      expect(names(await runtime.upkeep.purge(alice, { beforeEpochMs: start }))).toEqual(listed);
      expect(readUserFiles(dataDir, "alice")).toEqual({});
    });
  },
);

test("reports arguments of a wrong type as the caller's error", async () => {
  await withRuntime(async ({ upkeep }) => {
    const nothing = null as never;
    for (const call of [
      () => upkeep.restore(alice, "a", { scope: 5 as never }),
      () => upkeep.restore(alice, "a", nothing),
      () => upkeep.restore(alice, nothing),
      () => upkeep.import(alice, nothing),
      () => upkeep.import(alice, [], nothing),
      () => upkeep.planImport(alice, [], nothing),
    ]) {
      expect(call).toThrow(TypeError);
    }
  });
});

test("purge() deletes only what is older than requested", async () => {
  await withRuntime(async (runtime, at, dataDir) => {
    for (const name of ["a", "b", "c"]) {
      await upsert(runtime, name, name);
      await remove(runtime, name);
      at.epochMs += 10 * day;
    }
    const purged = await runtime.upkeep.purge(alice, { beforeEpochMs: start + 10 * day });
    expect(names(purged)).toEqual(["a.20260101T000000000Z.md"]);
    expect(names(await runtime.upkeep.listTrash(alice))).toEqual([
      "c.20260121T000000000Z.md",
      "b.20260111T000000000Z.md",
    ]);
    expect(Object.keys(readUserFiles(dataDir, "alice"))).toEqual([
      "memory/MEMORY.md",
      "memory/trash/b.20260111T000000000Z.md",
      "memory/trash/c.20260121T000000000Z.md",
    ]);
  });
});

const stamped = (count: number): string => `memory/trash/x.20250101T${String(count).padStart(9, "0")}Z.md`;

test("purge() empties a trash with more files than one call can change", async () => {
  await withRuntime(async (runtime, _at, dataDir) => {
    await upsert(runtime, "a", "");
    const files = Object.fromEntries(Array.from({ length: 2300 }, (_, count) => [stamped(count), "x"]));
    writeUserFiles(dataDir, { alice: files });
    const purged = await runtime.upkeep.purge(alice, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
    expect(purged).toHaveLength(2300);
    expect(await runtime.upkeep.listTrash(alice)).toEqual([]);
  });
});

test("lists, restores and purges whatever counts in the trash: files put there by hand, and files of any size", async () => {
  await withRuntime(async (runtime, _at, dataDir) => {
    await upsert(runtime, "keep", "k");
    const folder = userFolder(dataDir, "alice");
    writeUserFiles(dataDir, { alice: { "memory/trash/mine.md": "Mine.\n", "memory/trash/old/gone.md": "Gone.\n" } });
    const large = "large.20260101T000000000Z.md";
    writeFileSync(join(folder, "memory/trash", large), "x".repeat(3 * 2 ** 20));
    linkSync(join(folder, "memory/keep.md"), join(folder, "memory/trash/linked.md"));
    const since = Date.now();
    const found = await runtime.upkeep.listTrash(alice);
    expect(names(found).toSorted()).toEqual([large, "linked.md", "mine.md", "old/gone.md"]);
    const mine = found.find(({ name }) => name === "mine.md");
    expect(mine).toMatchObject({ scope: "memory", path: "mine.md", bytes: 6 });
    expect(Math.abs(since - (mine?.epochMs ?? 0))).toBeLessThan(day);
    await runtime.upkeep.restore(alice, "mine.md");
    expect(readUserFiles(dataDir, "alice")["memory/mine.md"]).toBe("Mine.\n");
    expect(await runtime.upkeep.purge(alice, { beforeEpochMs: since + day })).toHaveLength(3);
    expect(await runtime.upkeep.listTrash(alice)).toEqual([]);
    expect(readFileSync(join(folder, "memory/keep.md"), "utf8")).toContain("k");
  });
});
