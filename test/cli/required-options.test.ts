/** A missing or invalid option that a command needs is a usage error: exit code 2, and its name. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { program } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function memcell(args: readonly string[]): Outcome {
  return spawnSync(process.execPath, [program, ...args], { cwd: folder.path, input: "", encoding: "utf8" });
}

test("malformed input on the command line is a usage error that names the option", () => {
  expect(memcell(["call", "UpdateUserMemory", "--user", "eve", "--input", "{name: x}"])).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining('memcell call: --input is "{name: x}", allowed: a JSON object\n') as string,
  });
});

/** The commands that need a user, each complete but for the user. */
const ofUsers: Record<string, readonly string[]> = {
  call: ["ReadUserMemory", "--input", '{"name":"x"}'],
  index: [],
  trash: ["list"],
  pending: ["list"],
  history: [],
  diff: ["x", "1"],
  restore: ["x", "--version", "1"],
  undo: ["--run", "r"],
  runs: ["list"],
  stores: ["list"],
  export: ["eve.zip"],
  import: ["eve.zip"],
  erase: ["--yes"],
};

test("the commands that need a user say so in their help", () => {
  const help = memcell(["--help"]).stdout;
  const names = Array.from(help.matchAll(/^ {2}([a-z]+(?: verify)?) {2,}/gm), ([, name = ""]) => name);
  expect(names).toContain("index");
  const needing = names.filter((name) =>
    /--user <ID>[^-]*\(required\)/.test(memcell([...name.split(" "), "--help"]).stdout),
  );
  expect(needing).toEqual(Object.keys(ofUsers));
});

test.for(Object.entries(ofUsers))("%s without a user, or with an invalid one, is a usage error", ([name, rest]) => {
  const invalid = (id: string): Outcome => memcell([name, ...rest, "--user", id]);
  for (const [{ status, stdout, stderr }, says] of [
    [memcell([name, ...rest]), "required option '--user <ID>' not specified"],
    [invalid(""), "--user is empty"],
    [invalid("../eve"), '--user is "../eve", allowed: 1 to 128 bytes'],
  ] as const) {
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(`memcell ${name}: ${says}`);
  }
  expect(existsSync(join(folder.path, "data"))).toBe(false);
});
