/** `memcell import` on the command line. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";
import { zipBytes } from "../support/zip-bytes.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

function stage() {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const place = (file: string): string => join(folder.path, file);
  const memcell = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args, "--data", dataDir], { encoding: "utf8" });
  return { dataDir, place, memcell, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const mine = {
  "memory/MEMORY.md": indexLine("a"),
  "memory/a.md": entryText("a"),
  "memory/trash/a.20250101T000000000Z.md": "before",
};

test("plans first, then imports exactly the exported bytes", () => {
  using at = stage();
  writeUserFiles(at.dataDir, { alice: mine });
  expect(at.memcell("export", "--user", "alice", at.place("alice.zip")).status).toBe(0);
  const bytes = Object.values(mine).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const plan =
    "create memory/MEMORY.md\ncreate memory/a.md\nadd memory/trash/a.20250101T000000000Z.md\n" +
    `2 created, 0 replaced, 0 skipped, 1 added to the trash, 0 left out, 0 refused, ${bytes} bytes\n`;
  const planned = at.memcell("import", "--user", "bob", at.place("alice.zip"));
  expect(planned).toMatchObject({ status: 0, stderr: "" });
  expect(planned.stdout).toBe(`${plan}Nothing was changed; use --yes to import\n`);
  expect(existsSync(userFolder(at.dataDir, "bob"))).toBe(false);
  const done = at.memcell("import", "--user", "bob", at.place("alice.zip"), "--yes");
  expect(done).toMatchObject({ status: 0, stdout: plan, stderr: "" });
  expect(readUserFiles(at.dataDir, "bob")).toEqual(mine);
  expect(at.memcell("export", "--user", "bob", at.place("bob.zip")).status).toBe(0);
  expect(readFileSync(at.place("bob.zip"))).toEqual(readFileSync(at.place("alice.zip")));
});

test("a conflict changes nothing, even with --yes; --replace moves the present files to the trash", () => {
  using at = stage();
  const bobs = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a", "bob's own") };
  writeUserFiles(at.dataDir, { alice: mine, bob: bobs });
  at.memcell("export", "--user", "alice", at.place("alice.zip"));
  for (const more of [[], ["--yes"]]) {
    const { status, stdout } = at.memcell("import", "--user", "bob", at.place("alice.zip"), ...more);
    expect(status).toBe(1);
    expect(stdout).toContain("refuse memory/a.md: an entry of this name is there with other content\n");
    expect(stdout).toMatch(/Nothing was changed: one refused file refuses the whole import\n$/);
  }
  expect(readUserFiles(at.dataDir, "bob")).toEqual(bobs);
  const { status, stdout } = at.memcell("import", "--user", "bob", at.place("alice.zip"), "--yes", "--replace");
  expect(status).toBe(0);
  expect(stdout).toContain("replace memory/a.md\nskip memory/MEMORY.md\n");
  const after = readUserFiles(at.dataDir, "bob");
  expect(after).toMatchObject(mine);
  expect(Object.values(after)).toContain(bobs["memory/a.md"]);
});

test("--scope takes one scope of a zip file; files that no plugin keeps are left out and named", () => {
  using at = stage();
  writeUserFiles(at.dataDir, { alice: { ...mine, "journal/2025/01/01.md": "### k\n\nv\n\n", "journal/x.txt": "x" } });
  expect(at.memcell("export", "--user", "alice", at.place("all.zip")).stdout).toMatch(/^5 files, /);
  const all = at.memcell("import", "--user", "bob", at.place("all.zip"));
  expect(all.status).toBe(0);
  expect(all.stdout).toContain("leave out journal/x.txt: its name does not end with .md, and no tool");
  expect(all.stdout).toContain("3 created, 0 replaced, 0 skipped, 1 added to the trash, 1 left out, 0 refused, ");
  const one = at.memcell("import", "--user", "bob", at.place("all.zip"), "--yes", "--scope", "memory");
  expect(one.status).toBe(0);
  expect(readUserFiles(at.dataDir, "bob")).toEqual(mine);
  const args = ["--user", "alice", "--scope", "memory", "--scope", "journal"];
  expect(at.memcell("export", ...args, at.place("both.zip")).status).toBe(0);
  expect(readFileSync(at.place("both.zip"))).toEqual(readFileSync(at.place("all.zip")));
  expect(at.memcell("export", "--user", "alice", "--scope", "journal", at.place("one.zip")).stdout).toMatch(
    /^2 files, /,
  );
  const unknown = at.memcell("export", "--user", "alice", "--scope", "notes", at.place("none.zip"));
  expect(unknown.status).toBe(1);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "INPUT_INVALID" } });
  expect(existsSync(at.place("none.zip"))).toBe(false);
});

test("anything but a regular zip file of allowed size is a coded error that creates nothing", () => {
  using at = stage();
  writeFileSync(at.place("text.zip"), "no zip file");
  execFileSync("mkfifo", [at.place("pipe.zip")]);
  mkdirSync(at.place("folder.zip"));
  writeFileSync(at.place("sparse.zip"), "PK");
  truncateSync(at.place("sparse.zip"), 2 ** 32);
  const climbing = { name: "memory/../../../../outside.md", content: "x" };
  writeFileSync(at.place("climbs.zip"), zipBytes([{ name: "memcell-export.json" }, climbing]));
  for (const [file, said] of [
    ["text.zip", "the file is no zip file, is incomplete, or has something after its end"],
    ["pipe.zip", "it is not a regular file"],
    ["folder.zip", "it is not a regular file"],
    ["sparse.zip", "it is 4294967296 bytes, at most 195035136 allowed"],
    ["climbs.zip", 'entry "memory/../../../../outside.md" is refused: its name is neither "memcell-export.json"'],
    ["nothing.zip", "it is not there"],
    ["/dev/zero", "it is not a regular file"],
  ] as const) {
    const name = file.startsWith("/") ? file : at.place(file);
    const { status, stdout } = at.memcell("import", "--user", "bob", name, "--yes");
    expect({ file, status }).toEqual({ file, status: 1 });
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
    expect(error.code).toBe("INPUT_INVALID");
    expect(error.message.startsWith(`Cannot read the zip file: ${said}`)).toBe(true);
  }
  expect(existsSync(at.dataDir)).toBe(false);
});

test("an invalid command line is exit code 2", () => {
  using at = stage();
  for (const args of [[], [""], ["a", "b"], ["a", "--force"], ["a", "--scope", ""]]) {
    expect(at.memcell("import", "--user", "alice", ...args)).toMatchObject({ status: 2, stdout: "" });
  }
});
