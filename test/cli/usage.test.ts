/** An invalid command line is exit code 2 and a sentence on standard error, before anything is opened. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const run = (...args: readonly string[]) => memcell(args, { cwd: folder.path });

async function expectMistake(args: readonly string[], says: string): Promise<void> {
  const { status, stdout, stderr } = await run(...args);
  expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
  expect(stderr).toContain(says);
  expect(existsSync(join(folder.path, "data"))).toBe(false);
}

test.for<readonly [args: readonly string[], says: string]>([
  [[], "Exit codes:"],
  [["remember"], 'no command "remember"; did you mean '],
  [["trash", "burn"], 'no command "trash burn"; expected trash list, trash restore, trash purge'],
  [["trash"], 'no command "trash"; expected trash list, '],
  [["tools", "more"], 'unexpected argument "more"'],
  [["index", "--user", "alice", "--data", ""], 'data (flag --data) is ""'],
  [["index", "--user", "alice", "--user", "bob"], "--user is given twice; expected once\n"],
  [["trash", "list", "--user", "--json"], "--user has no value before --json; expected --user=VALUE if"],
  [["doctor", "alice"], 'unexpected argument "alice"'],
  [["doctor", "--fix=no"], "--fix"],
])("%j", async ([args, says]) => {
  await expectMistake(args, says);
});

const alices: Readonly<Record<string, readonly (readonly [args: readonly string[], says: string])[]>> = {
  call: [
    [[], "missing required argument"],
    [["ReadUserMemory", "--usr", "alice"], "unknown option"],
  ],
  trash: [
    [["purge", "--older-than", "yesterday"], '--older-than is "yesterday"; expected an age as in 30d'],
    [["purge", "--older-than", "2999-01-01"], '--older-than is "2999-01-01"'],
    [["list", "--older-than", "3d"], "unknown option"],
    [["purge", "--older-than", "0s", "--yes", "--dry-run"], "--yes and --dry-run do not go together"],
  ],
  pending: [[["allow"], 'no command "pending allow"; expected pending list, ']],
  runs: [
    [["list", "--last", "3"], "--last is for show"],
    [["show", "planner"], "the id of the run is missing"],
    [["show", "planner", "run-1", "--last", "0"], '--last is "0"; expected a whole number from 1'],
    [["show", "planner", "run-1", "--type", "chat"], '--type is "chat"; expected user_message, '],
    [["show", "", ""], "AGENT is empty"],
  ],
  stores: [
    [["grant"], "missing required argument 'WHO'"],
    [["grant", "bob", "--level", "owner"], "; expected search, read, readwrite"],
    [["grant", "bob", "--expires-in", "soon"], "--expires-in"],
    [["grant", "bob", "--expires-in", "0s"], '--expires-in is "0s"; expected a number above 0'],
    [["grant", "a/b"], 'WHO is "a/b"; expected the id of a store'],
  ],
  undo: [
    [[], "none of run, source and since are given; expected one"],
    [["--run", "bad", "--since", "2h"], "2 of run, source and since are given; expected one"],
  ],
  diff: [[["editor", "before"], '"before" needs the number of a version after it']],
  restore: [
    [["editor"], "--version"],
    [["editor", "--version", "0"], '"0"'],
  ],
  export: [
    [[], "missing required argument"],
    [[""], "is empty"],
  ],
  import: [
    [[], "missing required argument"],
    [[""], "is empty"],
    [["a", "--scope", ""], "--scope is empty"],
  ],
  erase: [
    [["alice"], 'unexpected argument "alice"'],
    [["--yes=no"], "--yes"],
    [["--export", ""], "--export is empty"],
  ],
};

test.for(Object.entries(alices))("%s for a user", async ([name, lines]) => {
  // Whatever is opened first would refuse this plugin.
  for (const [args, says] of lines) await expectMistake([name, ...args, "--user", "alice", "--plugin", "none"], says);
});

/** The commands that need a user, each complete but for the user. */
const ofUsers: Record<string, readonly string[]> = {
  erase: ["--yes"],
  call: ["ReadUserMemory", "--input", '{"name":"x"}'],
  index: [],
};

test("a missing, an empty or an invalid user", async () => {
  for (const [name, rest] of Object.entries(ofUsers)) {
    await expectMistake([name, ...rest], `memcell ${name}: required option '--user <ID>' not specified`);
    await expectMistake([name, ...rest, "--user", ""], `memcell ${name}: --user is empty`);
    await expectMistake([name, ...rest, "--user", "../eve"], '--user is "../eve"; expected 1 to 128 bytes');
  }
});

const unfitCall = (tool: string) => run("call", tool, "--user", "alice", "--input", "{name: x}");

test("an unknown tool is named before its input is judged", async () => {
  const misspelt = await unfitCall("updateUserMemory");
  expect({ status: misspelt.status, error: JSON.parse(misspelt.stdout) as unknown }).toMatchObject({
    status: 1,
    error: { error: { code: "TOOL_UNKNOWN" } },
  });
  expect(await unfitCall("UpdateUserMemory")).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--input is "{name: x}"; expected a JSON object\n'),
  });
});

test("every command has a help with examples, which says if it needs a user, and those for operators and programs name --policy", async () => {
  const help = (await run("--help")).stdout;
  const names = Array.from(help.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm), ([, name = ""]) => name);
  const needing: string[] = [];
  const governed: string[] = [];
  for (const name of names) {
    const { status, stdout } = await run(...name.split(" "), "--help");
    expect({ name, status, stdout }).toEqual({
      name,
      status: 0,
      stdout: expect.stringMatching(/Examples:\n {2}\S*memcell|Examples:\n {2}\S+ memcell/) as string,
    });
    if (/--user <ID>[^-]*\(required\)/.test(stdout)) needing.push(name);
    if (/^ {2}--policy <PATH> /m.test(stdout)) governed.push(name);
  }
  expect(needing).toEqual(Object.keys(ofUsers));
  expect(governed).toEqual(expect.arrayContaining(["call", "index", "tools", "doctor", "serve", "audit"]));
  expect((await run("show", "--help")).stdout).toContain('The other settings of "memcell call --help" are flags');
  // A flag that no help shows works.
  const { stderr } = await run("show", "a", "--user", "alice", "--data", ".", "--policy", "none.json");
  expect(stderr).toContain("none.json");
});
