/** An erasure with an export: nothing is removed if the zip file cannot be written, or would leave something out. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readArchive, readZip } from "../stage/archive.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";
import { fillAll, openAll, ownStore } from "./four-families.ts";
import { alice } from "./upkeep-stage.ts";

/** A data folder with Alice's entries of all families, and a place for exports. */
async function stage() {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  {
    await using filling = await openAll(dataDir);
    await fillAll(filling, "alice");
  }
  // It has nothing left to put away while a test compares files.
  const runtime = await openAll(dataDir);
  return {
    dataDir,
    runtime,
    place: (name: string): string => join(folder.path, name),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

test("an export names what lies beside the scopes, and an erasure with an export then removes nothing", async () => {
  await using at = await stage();
  const home = userFolder(at.dataDir, "alice");
  const cases: readonly [make: () => void, leftOut: object][] = [
    [() => mkdirSync(join(home, "My Notes")), { scope: "My Notes", path: "", reason: "its name is not a scope's" }],
    [() => writeFileSync(join(home, "todo"), "x"), { scope: "todo", path: "", reason: "it is not a folder" }],
    [() => symlinkSync("/etc", join(home, "etc")), { scope: "etc", path: "", reason: "it is not a folder" }],
    [
      () => mkdirSync(join(home, "store")),
      { scope: "store", path: "", reason: "another folder stands for this scope" },
    ],
    [
      () => writeFileSync(join(at.dataDir, "stores", ownStore("alice"), "x.txt"), "x"),
      { scope: `stores/${ownStore("alice")}/x.txt`, path: "", reason: "its name is not a scope's" },
    ],
    [
      () => {
        writeFileSync(join(home, "memory/giant.md"), "");
        truncateSync(join(home, "memory/giant.md"), 2 ** 22);
      },
      { scope: "memory", path: "giant.md", reason: "it is 4194304 bytes, at most 2097152 allowed" },
    ],
  ];
  for (const [make, leftOut] of cases) {
    make();
    const exported = await at.runtime.upkeep.export(alice);
    expect(exported.leftOut).toEqual(expect.arrayContaining([leftOut]));
    const before = treeFingerprint(at.dataDir);
    await expect(at.runtime.upkeep.erase(alice, { export: at.place("a.zip") })).rejects.toMatchObject({
      code: "STORAGE_UNSAFE",
      message: expect.stringMatching(/^Cannot erase the user: the export leaves out ".*": it/),
    });
    expect(treeFingerprint(at.dataDir)).toEqual(before);
    expect(existsSync(at.place("a.zip"))).toBe(false);
  }
  expect(await at.runtime.upkeep.erase(alice)).toMatchObject({ left: [] });
});

test("if the export cannot be written, or would lie in the user's folder, nothing is removed", async () => {
  await using at = await stage();
  writeFileSync(at.place("taken.zip"), "mine");
  symlinkSync(join(userFolder(at.dataDir, "alice"), "memory"), at.place("shortcut"));
  const before = treeFingerprint(at.dataDir);
  for (const [file, code] of [
    [at.place("taken.zip"), "NAME_CONFLICT"],
    [at.place("nowhere/a.zip"), "STORAGE_FAILED"],
    [join(at.dataDir, "users/alice/a.zip"), "INPUT_INVALID"],
    [join(at.dataDir, "stores/a.zip"), "INPUT_INVALID"],
    [`${at.place("shortcut")}/a.zip`, "INPUT_INVALID"],
  ] as const) {
    await expect(at.runtime.upkeep.erase(alice, { export: file })).rejects.toMatchObject({ code });
    expect(treeFingerprint(at.dataDir)).toEqual(before);
  }
  expect(readFileSync(at.place("taken.zip"), "utf8")).toBe("mine");
  // The system would follow the link, and then go up from its target.
  await at.runtime.upkeep.erase(alice, { export: `${at.place("shortcut")}/../backup.zip` });
  expect((await readZip(await readArchive(at.place("backup.zip")))).length).toBeGreaterThan(3);
});
