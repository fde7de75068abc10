/** `memcell export`, `import` and `erase`: a plan first, files of their owner alone, and no file but a regular zip file. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { expect, test, vi } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { zipBytes } from "../support/zip-bytes.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const memory = {
  "memory/MEMORY.md": indexLine("a"),
  "memory/a.md": entryText("a"),
  "memory/trash/a.20250101T000000000Z.md": "before",
};
const bytes = Object.values(memory).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

test("export writes for its owner only, names no user, and writes the same bytes in every time zone", async () => {
  using at = commandStage({ alice: memory });
  const shown = { status: 0, stdout: `3 files, ${bytes} bytes written\n`, stderr: "" };
  for (const [name, zone] of [
    ["one.zip", "Pacific/Apia"],
    ["two.zip", "America/Lima"],
  ] as const) {
    vi.stubEnv("TZ", zone);
    expect(await at.memcell("export", "--user", "alice", name)).toEqual(shown);
  }
  vi.unstubAllEnvs();
  const written = readFileSync(at.place("one.zip"));
  expect(readFileSync(at.place("two.zip"))).toEqual(written);
  expect(statSync(at.place("one.zip")).mode & 0o777).toBe(0o600);
  const text = written.toString("latin1");
  for (const name of ["alice", ".memcell/"]) expect(text).not.toContain(name);
  expect(text.indexOf("memcell-export.json")).toBe(30);
  writeFileSync(join(at.home("alice"), "memory/\u001b[2Jtwo\nlines.md"), "x");
  const { stdout } = await at.memcell("export", "--user", "alice", "three.zip");
  const leftOut = "left out: memory/\\u001b[2Jtwo\\u000alines.md: its name is not a valid memory path";
  expect(stdout.split("\n")[0]).toBe(leftOut);
});

test("export replaces no file, folder, or link to nothing, and makes no folder", async () => {
  using at = commandStage({ alice: memory });
  writeFileSync(at.place("there.zip"), "mine");
  mkdirSync(at.place("folder.zip"));
  symlinkSync(at.place("elsewhere"), at.place("link.zip"));
  for (const name of ["there.zip", "folder.zip", "link.zip"]) {
    const { code, message } = errorOf(await at.memcell("export", "--user", "alice", at.place(name), "--json"));
    expect(code).toBe("NAME_CONFLICT");
    expect(message).not.toContain(at.path);
  }
  expect(readFileSync(at.place("there.zip"), "utf8")).toBe("mine");
  const nowhere = await at.memcell("export", "--user", "alice", "nowhere/a.zip", "--json");
  expect(errorOf(nowhere).code).toBe("STORAGE_FAILED");
  expect(readdirSync(at.path).toSorted()).toEqual(["data", "folder.zip", "link.zip", "there.zip"]);
});

test("import plans first, then brings exactly the exported bytes of the named scopes; a conflict needs --replace", async () => {
  using at = commandStage({ alice: { ...memory, "journal/2025/01/01.md": "### k\n\nv\n\n", "journal/x.txt": "x" } });
  expect(await at.memcell("export", "--user", "alice", "alice.zip")).toMatchObject({ status: 0 });
  const args = ["import", "--user", "bob", "alice.zip"];
  const created = "create memory/MEMORY.md\ncreate memory/a.md\nadd memory/trash/a.20250101T000000000Z.md\n";
  const { status, stdout } = await at.memcell(...args);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(created) });
  expect(stdout).toContain(
    "leave out journal/x.txt: its name does not end with .md, and no tool of the journal reads it\n",
  );
  expect(stdout).toMatch(/, 1 left out, .*\nNothing was changed; use --yes to import\n$/);
  expect(existsSync(at.home("bob"))).toBe(false);
  const only = [...args, "--yes", "--scope", "memory"];
  const sum = `2 created, 1 added to the trash, ${bytes} bytes\n`;
  expect(await at.memcell(...only)).toEqual({
    status: 0,
    stderr: "",
    stdout: `This is an export of memcell: 5 files\n${created}${sum}`,
  });
  expect(at.files("bob")).toEqual(memory);

  writeFileSync(join(at.home("bob"), "memory/a.md"), entryText("a", "bob's own"));
  const bobs = at.files("bob");
  const refused = await at.memcell(...only);
  expect(refused.status).toBe(1);
  expect(refused.stdout).toContain("refuse memory/a.md: an entry of this name is there with other content\n");
  expect(refused.stdout).toMatch(/Nothing was changed: one refused file refuses the whole import\n$/);
  expect(at.files("bob")).toEqual(bobs);
  const replaced = await at.memcell(...only, "--replace");
  expect(replaced).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("replace memory/a.md\nskip memory/MEM"),
  });
  expect(at.files("bob")).toMatchObject(memory);
  expect(Object.values(at.files("bob"))).toContain(bobs["memory/a.md"]);
});

test("anything but a regular zip file of allowed size is a coded error that creates nothing", async () => {
  using at = commandStage();
  writeFileSync(at.place("text.zip"), "no zip file");
  execFileSync("mkfifo", [at.place("pipe.zip")]);
  mkdirSync(at.place("folder.zip"));
  for (const [name, start] of Object.entries({ "sparse.zip": "PK", "sparse.json": '{"memcell":1,', sparse: "" })) {
    writeFileSync(at.place(name), start);
    truncateSync(at.place(name), 2 ** 32);
  }
  const climbing = { name: "memory/../../../../outside.md", content: "x" };
  writeFileSync(at.place("climbs.zip"), zipBytes([{ name: "memcell-export.json" }, climbing]));
  const scopes = [
    { name: "journal/2025/01/01.md", content: "### k\n\nv\n\n" },
    { name: "memory/a.md", content: entryText("a"), crc: 1 },
  ];
  writeFileSync(at.place("damaged.zip"), zipBytes(scopes));
  for (const [file, said] of [
    ["text.zip", 'export: it is no sound zip file: "End of central directory record signature not found.'],
    ["pipe.zip", "file: it is not a regular file"],
    ["folder.zip", "folder: it has no files"],
    ["sparse.zip", 'export: it is no sound zip file: "End of central directory record signature not found.'],
    [
      "sparse.json",
      "file: it is 4294967296 bytes, at most 195035136 allowed for JSON; export it as a zip file or a folder",
    ],
    ["sparse", "file: it is 4294967296 bytes, at most 195035136 allowed"],
    ["climbs.zip", 'export: it is no sound zip file: "invalid relative path: memory/../../../../outside.md"'],
    ["damaged.zip", 'export: entry "memory/a.md" is refused: it is damaged'],
    ["nothing.zip", "file: it is not there"],
    ["/dev/zero", "file: it is not a regular file"],
  ] as const) {
    const { code, message } = errorOf(await at.memcell("import", "--user", "bob", file, "--yes", "--json"));
    const says = expect.stringContaining(`Cannot read the ${said}`) as string;
    expect({ file, code, message }).toEqual({ file, code: "INPUT_INVALID", message: says });
  }
  expect(existsSync(at.dataDir)).toBe(false);
});

test("erase shows what it would remove; with --yes the user is gone, and others are as before", async () => {
  const [store, bobs] = [storeIdOf("alice"), storeIdOf("bob")];
  using at = commandStage({ alice: { ...memory, "other/n.md": "12345" }, bob: memory });
  mkdirSync(join(at.dataDir, "stores", store, "entries"), { recursive: true });
  writeFileSync(join(at.dataDir, "stores", store, "entries/a.md"), "not read here");
  const before = treeFingerprint(at.path);
  const erase = (...args: readonly string[]) => at.memcell("erase", "--user", "alice", ...args);
  expect(await erase("--export", "shown.zip")).toEqual({
    status: 0,
    stderr: "",
    stdout:
      `memory: 3 files, ${bytes} bytes\n` +
      "other: 1 file, 5 bytes\n" +
      "store: 1 file, 13 bytes\n" +
      "other files: 0 files, 0 bytes\n" +
      `5 files, ${bytes + 18} bytes, 0 grants\n` +
      `store/ is stores/${store}/entries/ in the data folder\n` +
      "Nothing was changed; use --yes to erase\n",
  });
  expect(treeFingerprint(at.path)).toEqual(before);
  await at.memcell("stores", "grant", "alice", "--user", "bob");
  await at.memcell("stores", "grant", "carol", "--user", "alice");
  expect(await at.memcell("export", "--user", "alice", "before.zip")).toMatchObject({ status: 0 });
  const ofBob = treeFingerprint(at.home("bob"));
  const { status, stdout } = await erase("--export", "erased.zip", "--yes");
  expect(status).toBe(0);
  expect(stdout).toContain(`grant to the user with the store ${storeIdOf("carol")}\ngrant of the store ${bobs}\n`);
  expect(stdout).toMatch(/, 2 grants\nErased\n/);
  expect(readFileSync(at.place("erased.zip"))).toEqual(readFileSync(at.place("before.zip")));
  expect(readdirSync(join(at.dataDir, "users"))).toEqual(["bob"]);
  expect(treeFingerprint(at.home("bob"))).toEqual(ofBob);
  expect((await at.memcell("stores", "show", "--user", "bob")).stdout).toBe(`Store ${bobs}\nNo grants\n`);
});
