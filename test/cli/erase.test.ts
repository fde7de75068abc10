/** `memcell erase`: it shows what it would remove, and removes it with --yes alone. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const store = storeIdOf("alice");
const bobs = storeIdOf("bob");
const memory = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a"), "memory/trash/x.md": "x" };
const bytes = Object.values(memory).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Files of Alice and Bob, as people make them. */
function stage() {
  const at = commandStage({ alice: { ...memory, "other/n.md": "12345" }, bob: memory });
  mkdirSync(join(at.dataDir, "stores", store, "entries"), { recursive: true });
  writeFileSync(join(at.dataDir, "stores", store, "entries/a.md"), "not read here");
  return Object.assign(at, { erase: (...args: readonly string[]) => at.memcell("erase", "--user", "alice", ...args) });
}

test("without --yes it shows what it would remove, changes nothing, and says how to go on", async () => {
  using at = stage();
  const before = treeFingerprint(at.path);
  expect(await at.erase("--export", "shown.zip")).toEqual({
    status: 0,
    stderr: "",
    stdout:
      `memory: 3 files, ${bytes} bytes\n` +
      "other: 1 file, 5 bytes\n" +
      `store (stores/${store} in the data folder): 1 file, 13 bytes\n` +
      "other files: 0 files, 0 bytes\n" +
      `5 files, ${bytes + 18} bytes, 0 grants\n` +
      "Nothing was changed; use --yes to erase\n",
  });
  expect(treeFingerprint(at.path)).toEqual(before);
});

test("with --yes the user is gone, and everybody else is as before; --export writes before what export writes", async () => {
  using at = stage();
  for (const [granter, grantee] of [
    ["bob", "alice"],
    ["alice", "carol"],
  ] as const) {
    expect(await at.memcell("stores", "grant", grantee, "--user", granter)).toMatchObject({ status: 0 });
  }
  expect(await at.memcell("export", "--user", "alice", "before.zip")).toMatchObject({ status: 0 });
  const before = treeFingerprint(at.home("bob"));
  const { status, stdout, stderr } = await at.erase("--export", "erased.zip", "--yes");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`grant to the user with the store ${storeIdOf("carol")}\ngrant of the store ${bobs}\n`);
  expect(stdout).toMatch(/, 2 grants\nErased\n$/);
  expect(readFileSync(at.place("erased.zip"))).toEqual(readFileSync(at.place("before.zip")));
  expect(readdirSync(join(at.dataDir, "users"))).toEqual(["bob"]);
  expect(readdirSync(join(at.dataDir, "stores")).toSorted()).toEqual([".granted", bobs].toSorted());
  expect(treeFingerprint(at.home("bob"))).toEqual(before);
  expect((await at.memcell("stores", "show", "--user", "bob")).stdout).toBe(`Store ${bobs}\nNo grants\n`);
});

test("if the export cannot be written, nothing is removed", async () => {
  using at = stage();
  writeFileSync(at.place("taken.zip"), "mine");
  for (const file of ["taken.zip", "nowhere/a.zip", join(at.dataDir, "users/a.zip")]) {
    expect(errorOf(await at.erase("--export", file, "--yes")).message).not.toContain(at.dataDir);
  }
  expect(at.files("alice")).toEqual({ ...memory, "other/n.md": "12345" });
  expect(existsSync(join(at.dataDir, "stores", store, "entries/a.md"))).toBe(true);
  expect(readFileSync(at.place("taken.zip"), "utf8")).toBe("mine");
});

test("of a database, no folder is named", async () => {
  using at = commandStage();
  const ofDatabase = ["--user", "alice", "--store", await freshDatabase()];
  const note = JSON.stringify({ command: "create", path: "/memories/a.md", content: "x" });
  const called = await memcell(["call", "memory", "--plugin", "stores", ...ofDatabase, "--input", note], {
    cwd: at.path,
  });
  expect(called).toMatchObject({ status: 0 });
  const { status, stdout } = await memcell(["erase", ...ofDatabase], { cwd: at.path });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^store: \d files?, \d+ bytes\n/) });
  expect(stdout).not.toContain(storeIdOf("alice"));
  expect(existsSync(at.dataDir)).toBe(false);
});
