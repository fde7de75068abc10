/** `doctor`, `trash list` and `export` say where the files of a user's own store are. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { storeFolder, storePlace } from "../../host/cli/store-place.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

test("the folder of the own store is printed once, inside the data folder, if a path in it is", () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const memcell = (...args: readonly string[]) =>
    spawnSync(process.execPath, [program, ...args, "--data", dataDir, "--user", "alice"], { encoding: "utf8" });
  const memory = (input: object) => memcell("call", "memory", "--plugin", "stores", "--input", JSON.stringify(input));
  memory({ command: "create", path: "/memories/a.md", content: "x" });
  const zip = (name: string): string => join(folder.path, name);
  const quiet = [memcell("doctor"), memcell("trash", "list"), memcell("export", zip("1.zip"))];
  expect(quiet.map(({ stdout }) => stdout).join("")).not.toContain("store");

  memory({ command: "delete", path: "/memories/a.md" });
  const entries = `stores/${storeIdOf("alice")}/entries/`;
  for (const name of ["Über.md", "my notes.md"]) {
    mkdirSync(join(dataDir, entries), { recursive: true });
    writeFileSync(join(dataDir, entries, name), "x");
  }
  const place = `store/ is ${entries} in the data folder`;
  for (const args of [["doctor"], ["trash", "list"], ["export", zip("2.zip")]]) {
    const { stdout } = memcell(...args);
    expect(stdout.split("\n").filter((line) => line.trim() === place)).toHaveLength(1);
    expect(stdout).not.toContain(folder.path);
  }
  expect(memcell("trash", "list", "--json").stdout).not.toContain(place);
});

test("a database has no folder, so none is printed", async () => {
  const flags = { given: new Map([["store", "postgres://host@localhost/memory"]] as const) };
  expect(await storeFolder(flags, "alice")).toBeNull();
  expect(await storePlace(flags, "alice", ["store"])).toBe("");
  const inFolder = { given: new Map() };
  expect(await storeFolder(inFolder, "alice")).toBe(`stores/${storeIdOf("alice")}`);
});
