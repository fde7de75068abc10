/** `memcell import`: a plan first, and no file but a regular zip file. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";

import { expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { zipBytes } from "../support/zip-bytes.ts";
import { commandStage, errorOf } from "./command-stage.ts";
import type { CommandStage } from "./command-stage.ts";

const mine = {
  "memory/MEMORY.md": indexLine("a"),
  "memory/a.md": entryText("a"),
  "memory/trash/a.20250101T000000000Z.md": "before",
};
const bobs = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a", "bob's own") };

async function exported(at: CommandStage): Promise<string> {
  expect(await at.memcell("export", "--user", "alice", "alice.zip")).toMatchObject({ status: 0 });
  return at.place("alice.zip");
}

test("plans first, then imports exactly the exported bytes; --scope takes one scope", async () => {
  using at = commandStage({ alice: { ...mine, "journal/2025/01/01.md": "### k\n\nv\n\n", "journal/x.txt": "x" } });
  const args = ["import", "--user", "bob", await exported(at)];
  const planned = await at.memcell(...args);
  const [sum] = /^3 created, 0 replaced, 0 skipped, 1 added to the trash, 1 left out, 0 refused, .*$/m.exec(
    planned.stdout,
  ) ?? [""];
  expect(planned).toEqual({
    status: 0,
    stderr: "",
    stdout:
      "create journal/2025/01/01.md\ncreate memory/MEMORY.md\ncreate memory/a.md\n" +
      "add memory/trash/a.20250101T000000000Z.md\n" +
      "leave out journal/x.txt: its name does not end with .md, and no tool of the journal reads it\n" +
      `${sum}\nNothing was changed; use --yes to import\n`,
  });
  expect(existsSync(at.home("bob"))).toBe(false);
  const bytes = Object.values(mine).reduce((all, text) => all + Buffer.byteLength(text), 0);
  expect(await at.memcell(...args, "--yes", "--scope", "memory")).toEqual({
    status: 0,
    stderr: "",
    stdout:
      "create memory/MEMORY.md\ncreate memory/a.md\nadd memory/trash/a.20250101T000000000Z.md\n" +
      `2 created, 0 replaced, 0 skipped, 1 added to the trash, 0 left out, 0 refused, ${bytes} bytes\n`,
  });
  expect(at.files("bob")).toEqual(mine);
});

test("a conflict changes nothing, even with --yes; --replace moves the present files to the trash", async () => {
  using at = commandStage({ alice: mine, bob: bobs });
  const args = ["import", "--user", "bob", await exported(at)];
  for (const more of [[], ["--yes"]]) {
    const { status, stdout } = await at.memcell(...args, ...more);
    expect(status).toBe(1);
    expect(stdout).toContain("refuse memory/a.md: an entry of this name is there with other content\n");
    expect(stdout).toMatch(/Nothing was changed: one refused file refuses the whole import\n$/);
  }
  expect(at.files("bob")).toEqual(bobs);
  const { status, stdout } = await at.memcell(...args, "--yes", "--replace");
  expect(status).toBe(0);
  expect(stdout).toContain("replace memory/a.md\nskip memory/MEMORY.md\n");
  expect(at.files("bob")).toMatchObject(mine);
  expect(Object.values(at.files("bob"))).toContain(bobs["memory/a.md"]);
});

test("anything but a regular zip file of allowed size is a coded error that creates nothing", async () => {
  using at = commandStage();
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
    const { code, message } = errorOf(await at.memcell("import", "--user", "bob", file, "--yes"));
    expect({ file, code, message }).toEqual({
      file,
      code: "INPUT_INVALID",
      message: expect.stringContaining(`Cannot read the zip file: ${said}`) as string,
    });
  }
  expect(existsSync(at.dataDir)).toBe(false);
});

test("what export and import tell of trust goes with the files into another data folder", async () => {
  using at = commandStage({ alice: mine });
  const origins = { name: "memcell-origins.json", content: '{"version":1,"trust":{"tool_external":["memory/a.md"]}}' };
  const label = { name: "memcell-export.json", content: '{"version":1,"scope":"memory","files":1}' };
  const file = { name: "memory/a.md", content: entryText("a") };
  writeFileSync(at.place("told.zip"), zipBytes([label, origins, file]));
  expect(await at.memcell("import", "--user", "bob", "told.zip", "--yes")).toMatchObject({ status: 0 });
  expect(await at.memcell("export", "--user", "bob", "again.zip")).toMatchObject({ status: 0 });
  expect(readFileSync(at.place("again.zip"), "latin1")).toContain("memcell-origins.json");
  expect(await at.memcell("import", "--user", "carol", "again.zip", "--yes")).toMatchObject({ status: 0 });
  const versions = JSON.parse((await at.memcell("history", "a", "--user", "carol", "--json")).stdout) as object[];
  expect(versions).toMatchObject([{ path: "a.md", trust: "tool_external" }]);
});
