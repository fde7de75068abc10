/** `memcell export` on the command line. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

function memcell(args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [program, ...args], { encoding: "utf8", env: { ...process.env, ...env } });
}

/** A data folder with one user, and a folder for exports. */
function stage() {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, {
    alice: { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a"), "memory/trash/x.md": "x" },
  });
  const exportTo = (file: string, env: Record<string, string> = {}, user = "alice") =>
    memcell(["export", "--user", user, join(folder.path, file), "--data", dataDir], env);
  return { path: folder.path, dataDir, exportTo, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test("writes a file with access for its owner only, without a user's name, and always with the same bytes", () => {
  using at = stage();
  const { status, stdout, stderr } = at.exportTo("one.zip", { TZ: "Pacific/Apia" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(`3 files, ${entryText("a").length + Buffer.byteLength(indexLine("a")) + 1} bytes written\n`);
  expect(at.exportTo("two.zip", { TZ: "America/Lima" }).status).toBe(0);
  const bytes = readFileSync(join(at.path, "one.zip"));
  expect(readFileSync(join(at.path, "two.zip"))).toEqual(bytes);
  expect(statSync(join(at.path, "one.zip")).mode & 0o777).toBe(0o600);
  const text = bytes.toString("latin1");
  expect(text).not.toContain("alice");
  expect(text).not.toContain(".memcell/");
  expect(text.startsWith("PK\x03\x04")).toBe(true);
  expect(text.indexOf("memcell-export.json")).toBe(30);
  expect(text).toContain('{"version":1,"scope":"memory","files":3}\n');
  expect(readdirSync(at.path).toSorted()).toEqual(["data", "one.zip", "two.zip"]);
});

test("does not replace a file, a folder, or a link to nothing", () => {
  using at = stage();
  writeFileSync(join(at.path, "there.zip"), "mine");
  mkdirSync(join(at.path, "folder.zip"));
  symlinkSync(join(at.path, "elsewhere"), join(at.path, "link.zip"));
  for (const name of ["there.zip", "folder.zip", "link.zip"]) {
    const { status, stdout } = at.exportTo(name);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "NAME_CONFLICT" } });
    expect(stdout).not.toContain(at.path);
  }
  expect(readFileSync(join(at.path, "there.zip"), "utf8")).toBe("mine");
  expect(existsSync(join(at.path, "elsewhere"))).toBe(false);
  const lost = at.exportTo("nowhere/a.zip");
  expect(JSON.parse(lost.stdout)).toMatchObject({
    error: { code: "STORAGE_FAILED", message: "Cannot write the export: its folder is not there" },
  });
  expect(readdirSync(at.path).toSorted()).toEqual(["data", "folder.zip", "link.zip", "there.zip"]);
});

test("a user without memory gets no export and no folder", () => {
  using at = stage();
  const { status, stdout } = at.exportTo("bob.zip", {}, "bob");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "ENTRY_NOT_FOUND" } });
  expect(existsSync(join(at.path, "bob.zip"))).toBe(false);
  expect(existsSync(userFolder(at.dataDir, "bob"))).toBe(false);
});

test("files that are left out are named without control characters", () => {
  using at = stage();
  writeFileSync(join(userFolder(at.dataDir, "alice"), "memory", "\u001b[2Jtwo\nlines.md"), "x");
  const { status, stdout } = at.exportTo("a.zip");
  expect(status).toBe(0);
  expect(stdout.split("\n")[0]).toBe(
    "left out: memory/\\u001b[2Jtwo\\u000alines.md: its name is not a valid memory path",
  );
});

test("an invalid command line is exit code 2", () => {
  for (const args of [["export"], ["export", ""], ["export", "a", "b"], ["export", "a", "--force"]]) {
    expect(memcell([...args, "--user", "alice"])).toMatchObject({ status: 2, stdout: "" });
  }
});
