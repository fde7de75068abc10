/** Commands use the settings of flags, environment and file: data, log, policy, plugins. What they print is in `config/`. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";

import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { readRecords } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const at = commandStage();
afterAll(() => at[Symbol.dispose]());
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  memcell(args, { cwd: at.path, env: { ...process.env, ...env } });

const input = JSON.stringify({ action: "upsert", name: "a", type: "user", description: "d", body: "b" });
const call = ["call", "UpdateUserMemory", "--user", "alice", "--input", input];

/** Says a setting in one of the three ways, and runs a command. */
const ways = {
  "a flag": (args: readonly string[], [flag]: Names, value: string) => run([...args, flag, value]),
  "a variable": (args: readonly string[], [, variable]: Names, value: string) => run(args, { [variable]: value }),
  "the file": (args: readonly string[], [, , key]: Names, value: string) => {
    const said = { [key]: key === "plugins" ? [value] : value };
    writeFileSync(at.place("told.json"), JSON.stringify(said), { mode: 0o600 });
    return run([...args, "--config", "told.json"]);
  },
} as const;
type Names = readonly [flag: string, variable: string, key: string];

test.for(Object.entries(ways))(
  "%s says where the data, the log, the policy and the plugins are",
  async ([way, say]) => {
    const folder = `data of ${way}`;
    expect(await say(call, ["--data", "MEMCELL_DATA", "data"], folder)).toMatchObject({ status: 0 });
    expect(userFolderNames(at.place(folder))).toEqual(["alice"]);
    const log = `log of ${way}/a.jsonl`;
    const names = ["--audit-log", "MEMCELL_AUDIT_LOG", "auditLog"] as const;
    // Another process could have the log open, and the tools are the same.
    await say(["tools"], names, log).catch(() => {});
    expect(existsSync(at.place(log))).toBe(false);
    expect(await say(call, names, log)).toMatchObject({ status: 0 });
    expect(existsSync(at.place(log))).toBe(true);
    for (const args of [call, ["tools"], ["doctor"]]) {
      const refused = await say([...args, "--json"], ["--policy", "MEMCELL_POLICY", "policy"], "strict.json");
      expect(errorOf(refused).code).toBe("PLUGIN_REFUSED");
    }
    const audited = await say(["audit"], ["--policy", "MEMCELL_POLICY", "policy"], "strict.json");
    expect(audited).toMatchObject({ status: 1, stdout: expect.stringContaining("FAIL") });
    const plugins = ["--plugin", "MEMCELL_PLUGINS", "plugins"] as const;
    expect((await say(["tools"], plugins, "./mine.wasm")).stdout).toContain("memory_write");
    expect(errorOf(await say(["tools"], plugins, "./none.wasm")).code).toBe("PLUGIN_REFUSED");
  },
);

const granting = policyFor(shippedNames().map(shippedPlugin));
const policies: Readonly<Record<string, string>> = {
  "granting.json": JSON.stringify(granting),
  "strict.json": JSON.stringify({ version: 1, strict: true, plugins: {} } satisfies PolicyFile),
  "empty.json": JSON.stringify({ version: 1, plugins: {} } satisfies PolicyFile),
};
for (const [name, text] of Object.entries(policies)) writeFileSync(at.place(name), text);
copyFileSync(shippedPlugin("journal"), at.place("mine.wasm"));
mkdirSync(at.place("data"));

const governed = [call, ["index", "--user", "alice"], ["tools"], ["doctor"], ["trash", "list", "--user", "alice"]];

test.for(governed)("%s is under the policy that --policy names", async (args) => {
  expect(await run([...args, "--policy", "granting.json"])).toMatchObject({ status: 0, stderr: "" });
  for (const [file, says] of [
    ["strict.json", 'the policy "strict.json" does not name the plugin "'],
    ["absent.json", 'Cannot use policy "absent.json": it cannot be read'],
  ] as const) {
    const ran = await run([...args, "--policy", file, "--json"]);
    expect(ran.stderr).toBe("");
    expect(errorOf(ran)).toMatchObject({ code: "PLUGIN_REFUSED", message: expect.stringContaining(says) });
    expect(ran.stdout).not.toContain(at.path);
  }
  const { status, stderr } = await run([...args, "--policy", "empty.json", "--json"]);
  expect(stderr).toBe(
    'warn policy: user-memory: the policy "empty.json" does not name the plugin "user-memory", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy): none of its tools is available\n',
  );
  // Without the plugin, the doctor cannot judge the entries that are there.
  expect(status).toBe(["call", "index", "doctor"].includes(args[0] ?? "") ? 1 : 0);
});

test("nothing is done if a variable is misspelt or the file is invalid", async () => {
  writeFileSync(at.place("wrong.json"), '{"auditlog":"x"}');
  for (const args of [...governed, ["audit"]]) {
    const misspelt = await run(args, { MEMCELL_AUDITLOG: "log/a.jsonl", MEMCELL_DATA: "untouched" });
    expect(misspelt).toMatchObject({ status: 2, stdout: "" });
    expect(misspelt.stderr).toContain("did you mean MEMCELL_AUDIT_LOG?");
    const unknown = await run([...args, "--config", "wrong.json"], { MEMCELL_DATA: "untouched" });
    expect(unknown).toMatchObject({ status: 2, stdout: "" });
    expect(unknown.stderr).toContain('"wrong.json" has "auditlog"');
  }
  expect(existsSync(at.place("untouched"))).toBe(false);
});

test("a variable sets a tool's deadline, and the server's user is no call's", async () => {
  const late = await run([...call, "--data", "late"], { MEMCELL_DEADLINE_MS: "1" });
  expect(errorOf(late).code).toBe("DEADLINE_EXCEEDED");
  const nobodys = await run(["call", "UpdateUserMemory", "--input", input], { MEMCELL_SERVE_USER: "bob" });
  expect(nobodys).toMatchObject({ status: 2, stderr: expect.stringContaining("--user") });
});

test("commands append to one log, and do nothing without one that can be opened", async () => {
  for (const args of [call, ["doctor", "--fix"]]) {
    expect(await run([...args, "--data", "logged", "--audit-log", "one.jsonl"])).toMatchObject({ status: 0 });
  }
  const kinds = readRecords(at.place("one.jsonl")).map(({ kind }) => kind);
  const calls = kinds.slice(5, -2);
  expect(new Set(calls)).toEqual(new Set(["call"]));
  expect(kinds).toEqual(["opened", "staged", "call", "closed", "opened", ...calls, "upkeep", "closed"]);
  for (const args of [call, ["doctor", "--fix"]]) {
    const misnamed = await run([...args, "--audit-log", "log/"]);
    expect(misnamed.status).toBe(2);
    expect(misnamed.stderr).toContain("the audit log's file must be a file's path, without NUL");
    const folder = await run([...args, "--data", "logged", "--audit-log", "data", "--json"]);
    expect(errorOf(folder).code).toMatch(/^STORAGE_/);
  }
});
