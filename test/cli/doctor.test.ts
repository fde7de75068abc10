/** `memcell doctor`: it does not say that all is well while a tool cannot work, and tells a person what to do. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { commandStage } from "./command-stage.ts";
import type { CommandStage } from "./command-stage.ts";

const whole = { "memory/MEMORY.md": indexLine("a"), "memory/a.md": entryText("a"), ".memcell/owner": "alice" };

test("reports problems and remedies, and with --fix applies them", async () => {
  using at = commandStage({ alice: { ...whole, "memory/MEMORY.md": "" }, bob: { ...whole, ".memcell/owner": "bob" } });
  expect(await at.memcell("doctor")).toEqual({
    status: 1,
    stderr: "",
    stdout: '"alice"\n  memory/a.md: the index does not list it\n    to mend: add its line\n2 users checked\n',
  });
  expect(at.files("alice")["memory/MEMORY.md"]).toBe("");
  const finding = { problem: "entry-without-line", path: "memory/a.md", remedy: "add its line" };
  expect(JSON.parse((await at.memcell("doctor", "--json", "--user", "alice")).stdout)).toMatchObject([
    { userId: "alice", findings: [finding], mended: [], error: null },
  ]);
  expect(await at.memcell("doctor", "--user", "alice", "--fix")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("to mend: add its line\n  mended: 1, left: 0\n1 user checked\n"),
  });
  expect(await at.memcell("doctor")).toMatchObject({ status: 0, stdout: "2 users checked\n" });
});

/** Of a user's home, and what the doctor says of it. */
const damages: readonly (readonly [damage: (home: string) => void, says: string])[] = [
  [
    (home) => writeFileSync(join(home, ".memcell/owner"), "bob"),
    "users/u0: its record of the owner, .memcell/owner, names no user whose folder this is",
  ],
  [(home) => mkdirSync(join(home, "../al%2")), "users/al%2: its name names no user whose folder this is"],
  [(home) => symlinkSync(home, join(home, "../link")), "users/link: it is neither a file nor a folder"],
  [
    (home) => {
      rmSync(join(home, "memory/MEMORY.md"));
      mkdirSync(join(home, "memory/MEMORY.md"));
    },
    "memory/MEMORY.md: the index is not a file that can be opened",
  ],
  [
    (home) => writeFileSync(join(home, "memory/trash"), "not a folder"),
    "memory/trash: it is not a folder, so nothing can go to the trash",
  ],
];

test("each thing in a wrong place is named, and needs a person", async () => {
  const users = damages.map((_, at) => [`u${at}`, { ...whole, ".memcell/owner": `u${at}` }] as const);
  using at = commandStage(Object.fromEntries(users));
  for (const [number, [damage]] of damages.entries()) damage(at.home(`u${number}`));
  const { status, stdout } = await at.memcell("doctor");
  expect(status).toBe(1);
  const lines = stdout.split("\n").map((line) => line.trim());
  for (const [, says] of damages) {
    expect(lines).toContain(says);
    expect(lines[lines.indexOf(says) + 1]).toBe("needs a person");
  }
});

test("names that begin with a dot are left to other programs, and so is a file beside the users", async () => {
  using at = commandStage({ alice: whole });
  mkdirSync(join(at.dataDir, "users/.snapshots"));
  writeFileSync(join(at.dataDir, "users/README"), "Data of memcell\n");
  renameSync(join(at.home("alice"), "memory/a.md"), join(at.home("alice"), "memory/.a.md.swp"));
  writeFileSync(join(at.home("alice"), "memory/MEMORY.md"), "");
  expect(await at.memcell("doctor")).toEqual({ status: 0, stdout: "1 user checked\n", stderr: "" });
});

/** Loads these plugins for commands of Alice. */
function loading(at: CommandStage, plugins: readonly string[]) {
  writeFileSync(at.place("policy.json"), JSON.stringify(policyFor(plugins)));
  const loaded = plugins.flatMap((plugin) => ["--plugin", plugin]);
  return (...args: readonly string[]) => at.memcell(...args, "--user", "alice", "--policy", "policy.json", ...loaded);
}

test("a plugin's findings and reasons cannot move the cursor or look like a line of the host", async () => {
  using at = commandStage({ alice: { "notes/a.md": "x", ".memcell/owner": "alice" } });
  const message = "\u001b[2Jit is odd\n1 user checked\u009b1A";
  const finding = { problem: "odd", path: "a.md", message, remedy: "\u202emend it\r" };
  const unfit = [{ path: "a.md", code: "INPUT_INVALID", reason: "\u001b[2Jit is\nodd" }];
  const answer = { findings: [finding], findingsHidden: 0, unfit };
  const run = loading(at, [writeScriptedPlugin(at.path, "hostile", { Inspect: { role: "inspect", answer } })]);
  expect(await run("doctor")).toMatchObject({
    status: 1,
    stdout:
      '"alice"\n  notes/a.md: \\u001b[2Jit is odd\\u000a1 user checked\\u009b1A\n' +
      "    to mend: \\u202emend it\\u000d\n1 user checked\n",
  });
  const json = (await run("doctor", "--json")).stdout;
  expect(json).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u);
  expect(JSON.parse(json)).toMatchObject([{ findings: [{ message, remedy: finding.remedy }] }]);
  expect((await run("export", "x.zip")).stdout).toBe("1 file, 1 bytes written\n");
  expect((await run("import", "x.zip")).stdout).toContain("notes/a.md: \\u001b[2Jit is\\u000aodd\n");
});

test("--fix reports the mends of other plugins although one plugin has failed", async () => {
  using at = commandStage({ alice: { "memory/a.md": "no entry", ".memcell/owner": "alice" } });
  const Inspect = {
    role: "inspect",
    rights: ["write"],
    answer: { nope: 1 },
    requests: [["store_write", { scope: "notes", path: "a.md", content: "x" }]],
  } as const;
  const run = loading(at, [writeScriptedPlugin(at.path, "failing", { Inspect }), shippedPlugin("user-memory")]);
  const { status, stdout } = await run("doctor", "--fix", "--json");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([
    {
      mended: [{ problem: "index-missing" }, { problem: "entry-incomplete" }],
      remaining: [{ problem: "not-inspected", path: "notes" }],
      error: { code: "OUTPUT_INVALID" },
    },
  ]);
});
