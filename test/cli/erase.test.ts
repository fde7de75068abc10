/** `memcell erase` on the command line. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const store = storeIdOf("alice");
const bobs = storeIdOf("bob");

/** A data folder with files of Alice and Bob, as people make them, and a place for exports. */
function stage() {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const files = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a"), "memory/trash/x.md": "x" };
  writeUserFiles(dataDir, { alice: { ...files, "other/n.md": "12345" }, bob: files });
  mkdirSync(join(dataDir, "stores", store, "entries"), { recursive: true });
  writeFileSync(join(dataDir, "stores", store, "entries/a.md"), "not read here");
  const memcell = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args, "--data", dataDir], { encoding: "utf8" });
  return {
    dataDir,
    place: (file: string): string => join(folder.path, file),
    memcell,
    erase: (...args: string[]) => memcell("erase", ...args),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const memoryBytes = entryText("a").length + Buffer.byteLength(indexLine("a")) + 1;

test("without --yes it shows what it would remove, changes nothing, and says how to go on", () => {
  using at = stage();
  const before = treeFingerprint(at.dataDir);
  const { status, stdout, stderr } = at.erase("--user", "alice");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(
    `memory: 3 files, ${memoryBytes} bytes\n` +
      "other: 1 file, 5 bytes\n" +
      `store (stores/${store} in the data folder): 1 file, 13 bytes\n` +
      "other files: 0 files, 0 bytes\n" +
      `5 files, ${memoryBytes + 18} bytes, 0 grants\n` +
      "Nothing was changed; use --yes to erase\n",
  );
  expect(treeFingerprint(at.dataDir)).toEqual(before);
});

test("with --yes the user is gone, and everybody else is as before", () => {
  using at = stage();
  expect(at.memcell("stores", "grant", "alice", "--user", "bob").status).toBe(0);
  expect(at.memcell("stores", "grant", "carol", "--user", "alice").status).toBe(0);
  const before = treeFingerprint(userFolder(at.dataDir, "bob"));
  const { status, stdout, stderr } = at.erase("--user", "alice", "--yes");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`grant to the user with the store ${storeIdOf("carol")}\ngrant of the store ${bobs}\n`);
  expect(stdout).toMatch(/, 2 grants\nErased\n$/);
  expect(readdirSync(join(at.dataDir, "users"))).toEqual(["bob"]);
  expect(readdirSync(join(at.dataDir, "stores")).toSorted()).toEqual([".granted", bobs].toSorted());
  expect(treeFingerprint(userFolder(at.dataDir, "bob"))).toEqual(before);
  expect(at.memcell("stores", "show", "--user", "bob").stdout).toBe(`Store ${bobs}\nNo grants\n`);
  expect(at.memcell("doctor").stdout).toMatch(/1 user checked\n$/);
});

test("--export writes what export writes, before anything is removed", () => {
  using at = stage();
  expect(at.memcell("export", "--user", "alice", at.place("before.zip")).status).toBe(0);
  const shown = at.erase("--user", "alice", "--export", at.place("shown.zip"));
  expect(shown).toMatchObject({ status: 0 });
  expect(existsSync(at.place("shown.zip"))).toBe(false);
  expect(at.erase("--user", "alice", "--export", at.place("erased.zip"), "--yes")).toMatchObject({ status: 0 });
  expect(readFileSync(at.place("erased.zip"))).toEqual(readFileSync(at.place("before.zip")));
  expect(existsSync(userFolder(at.dataDir, "alice"))).toBe(false);
  const args = ["--user", "alice", at.place("erased.zip"), "--yes", "--scope", "memory"];
  expect(at.memcell("import", ...args)).toMatchObject({ status: 0 });
  expect(readFileSync(join(userFolder(at.dataDir, "alice"), "memory/a.md"), "utf8")).toBe(entryText("a"));
});

test("if the export cannot be written, nothing is removed", () => {
  using at = stage();
  writeFileSync(at.place("taken.zip"), "mine");
  const before = treeFingerprint(at.dataDir);
  for (const file of [at.place("taken.zip"), at.place("nowhere/a.zip"), join(at.dataDir, "users/a.zip")]) {
    const { status, stdout } = at.erase("--user", "alice", "--export", file, "--yes");
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false });
    expect(stdout).not.toContain(at.dataDir);
  }
  expect(Object.keys(treeFingerprint(at.dataDir)).filter((path) => !path.includes(".memcell"))).toEqual(
    Object.keys(before),
  );
  expect(readFileSync(at.place("taken.zip"), "utf8")).toBe("mine");
});

test("an unknown user is a coded error, and gets no folder", () => {
  using at = stage();
  for (const more of [[], ["--yes"]]) {
    const { status, stdout } = at.erase("--user", "carol", ...more);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: "ENTRY_NOT_FOUND", message: expect.stringMatching(/: nothing is stored of this user$/) },
    });
  }
  for (const wrong of [["--yes"], ["--user", "../bob", "--yes"]]) {
    expect(at.erase(...wrong)).toMatchObject({ status: 2, stdout: "" });
  }
  expect(readdirSync(join(at.dataDir, "users")).toSorted()).toEqual(["alice", "bob"]);
});

test("an invalid command line is exit code 2, and erases nothing", () => {
  using at = stage();
  for (const args of [["alice"], ["--user"], ["--yes=no"], ["--export", ""], ["--force"], ["--scope", "memory"]]) {
    expect(at.erase("--user", "alice", ...args)).toMatchObject({ status: 2, stdout: "" });
  }
  expect(existsSync(userFolder(at.dataDir, "alice"))).toBe(true);
});

test("the doctor lists what is left of an erased user, and --fix removes it", () => {
  using at = stage();
  const left = join(at.dataDir, "users", `.erased.${store}.1700000000000.0badcafe`);
  mkdirSync(join(left, "memory"), { recursive: true });
  writeFileSync(join(left, "memory/a.md"), "x");
  const found = at.memcell("doctor");
  expect(found.status).toBe(1);
  expect(found.stdout).toContain(
    `belongs to nobody\n  users/.erased.${store}.1700000000000.0badcafe: it is what is left of an erased user\n` +
      "    to mend: remove it, and what other stores have granted the user\n",
  );
  expect(existsSync(left)).toBe(true);
  const fixed = at.memcell("doctor", "--fix");
  expect(fixed.stdout).toContain("  mended: 1, left: 0\n");
  expect(existsSync(left)).toBe(false);
  const reports = JSON.parse(at.memcell("doctor", "--json").stdout) as { userId: string | null }[];
  expect(reports.map(({ userId }) => userId)).not.toContain(null);
});
