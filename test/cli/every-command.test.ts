/**
 * What each command does where something is in its way: a user or a folder that does not exist, a log that a server
 * writes, or the setting `readOnly`. A command that only reads works wherever it can, and none makes what it misses.
 */
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { newEvent, RunHistory, userMessageData } from "memcell/run-history";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { readRecords } from "../stage/runtime.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const at = commandStage();
const logFile = join(at.path, "log/audit.jsonl");
const alice = { userId: "alice" };
const fact = (name: string): object => ({ action: "upsert", name, type: "user", description: "d", body: "b" });

/** In place of a server. */
let server: Runtime;
beforeAll(async () => {
  const options = { dataDir: at.dataDir, plugins: shippedNames(), threadsMax: 1, auditLog: { file: logFile } };
  server = await createRuntime(options);
  for (const name of ["a", "gone"]) await server.call("UpdateUserMemory", fact(name), alice);
  await server.call("UpdateUserMemory", { action: "delete", name: "gone" }, alice);
  const event = newEvent(undefined, userMessageData({ message: "Hello" }));
  await new RunHistory(server, alice).append("p", "r", [event]);
  await server.stores(alice).grant("p");
  await at.memcell("export", "--user", "alice", "alice.zip");
});
afterAll(async () => {
  await server.close();
  at[Symbol.dispose]();
});

const entriesOf = (code: string, ...commands: readonly (readonly string[])[]) =>
  commands.map((args) => ({ args, code }));

/** Each with the code of its error for a user of whom nothing is stored; none has one if it makes no difference. */
const reading = [
  ...entriesOf("ENTRY_NOT_FOUND", ["doctor"], ["doctor", "--json"], ["trash", "list"], ["history"], ["history", "a"]),
  ...entriesOf("ENTRY_NOT_FOUND", ["trash", "list", "--json"], ["trash", "purge", "--older-than", "0s"]),
  ...entriesOf("ENTRY_NOT_FOUND", ["diff", "a", "before", "1"], ["pending", "list"], ["undo", "--since", "1h"]),
  ...entriesOf("ENTRY_NOT_FOUND", ["list"], ["show", "a"], ["confirm", "a"], ["sources"], ["waiting"]),
  ...entriesOf("ENTRY_NOT_FOUND", ["runs", "list"], ["runs", "show", "p", "r"], ["erase"], ["export", "again.zip"]),
  ...entriesOf("", ["call", "ReadUserMemory", "--input", '{"name":"a"}'], ["index"], ["stores", "list"]),
  ...entriesOf("", ["stores", "show"]),
];

/** Each with the code of its error under `readOnly`. */
const ofOwnersAlone = entriesOf(
  "READ_ONLY",
  ["doctor", "--fix"],
  ["trash", "restore", "gone"],
  ["trash", "purge", "--older-than", "0s", "--yes"],
  ["pending", "reject", "w-1"],
  ["restore", "a", "--version", "1"],
  ["undo", "--run", "r", "--yes"],
  ["erase", "--yes"],
);
const note = '{"command":"create","path":"a","content":"x"}';
const changing = [
  ...ofOwnersAlone,
  ...entriesOf("READ_ONLY", ["stores", "grant", "bob"], ["stores", "revoke", "bob"], ["import", "alice.zip"]),
  ...entriesOf("READ_ONLY", ["import", "alice.zip", "--yes"]),
  ...entriesOf("TOOL_UNKNOWN", ["call", "UpdateUserMemory", "--input", JSON.stringify(fact("b"))]),
  ...entriesOf("TOOL_UNKNOWN", ["runs", "delete", "p", "r"]),
  ...entriesOf(
    "READ_ONLY",
    ["stores", "clear", "bob"],
    ["forget", "a"],
    ["confirm", "a", "--if-sha256", "0".repeat(16), "--yes"],
  ),
  ...entriesOf("INPUT_INVALID", ["call", "memory", "--input", note]),
];

describe("a user of whom nothing is stored", () => {
  const ofOwners = [...reading.filter(({ code }) => code !== ""), ...ofOwnersAlone];

  test.for(ofOwners)("$args fails, names the user and makes nothing", async ({ args }) => {
    const before = treeFingerprint(at.dataDir);
    const ran = await at.memcell(...args, "--user", "nosuch", "--json");
    expect(errorOf(ran)).toMatchObject({ code: "ENTRY_NOT_FOUND" });
    if (args[0] === "doctor") expect(ran.stdout).toContain(String.raw`nothing is stored of the user \"nosuch\"`);
    const { stdout, stderr } = await at.memcell(...args.filter((each) => each !== "--json"), "--user", "nosuch");
    expect({ stdout, stderr }).toEqual({
      stdout: "",
      stderr: expect.stringMatching(/^memcell [a-z ]+: Cannot /) as string,
    });
    expect(treeFingerprint(at.dataDir)).toEqual(before);
  });

  test("is nobody unknown to a call, to its index and to its stores", async () => {
    for (const args of [["index"], ["stores", "show"]]) {
      expect(await at.memcell(...args, "--user", "bob")).toMatchObject({ status: 0 });
    }
    const call = ["call", "UpdateUserMemory", "--input", JSON.stringify(fact("tea")), "--user", "bob"];
    expect(await at.memcell(...call)).toMatchObject({ status: 0 });
    expect(await at.memcell("doctor", "--user", "bob")).toMatchObject({ status: 0, stdout: "1 user checked\n" });
  });
});

const inNone = (...args: readonly string[]) => memcell([...args, "--data", "nosuchdir"], { cwd: at.path });

describe("a folder that does not exist", () => {
  test.for([["doctor"], ["doctor", "--user", "alice"], ["trash", "list", "--user", "alice"], ["erase", "--user", "a"]])(
    "is named by %j, which does not make it",
    async (args) => {
      expect(errorOf(await inNone(...args, "--json"))).toMatchObject({
        code: "ENTRY_NOT_FOUND",
        message: 'Cannot open the data folder "nosuchdir" (flag --data): it does not exist',
      });
      expect(existsSync(at.place("nosuchdir"))).toBe(false);
    },
  );

  test("has an empty index of anybody; one in which nothing is stored has no user to check", async () => {
    expect(await inNone("index", "--user", "bob")).toMatchObject({ status: 0, stdout: "" });
    expect(existsSync(at.place("nosuchdir"))).toBe(false);
    mkdirSync(at.place("empty"));
    const { status, stdout } = await memcell(["doctor", "--data", "empty"], { cwd: at.path });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "0 users checked: nothing is stored there\n" });
  });
});

const logged = (...args: readonly string[]) =>
  at.memcell(...args, "--user", "alice", "--audit-log", logFile, "--wait-ms", "100");

describe("a log that a server writes", () => {
  test("is not needed by what only reads", async () => {
    const before = readRecords(logFile).length;
    const others = [{ args: ["export", "logged.zip"] }, { args: ["import", "alice.zip"] }];
    for (const { args } of [...reading.filter(({ args: [name] }) => name !== "call" && name !== "export"), ...others]) {
      expect({ args, ...(await logged(...args)) }).toMatchObject({ args, status: 0 });
    }
    expect(readRecords(logFile)).toHaveLength(before);
  });

  test("keeps what would change something from it, which says what to do", async () => {
    const before = treeFingerprint(at.dataDir);
    for (const [name, option] of [
      ["call", "--input"],
      ["doctor", "--fix"],
      ["trash", "--yes"],
      ["erase", "--yes"],
    ] as const) {
      const { args } = changing.find((each) => each.args[0] === name && each.args.includes(option)) ?? { args: [] };
      const { code, message } = errorOf(await logged(...args, "--json"));
      expect({ args, code }).toEqual({ args, code: "BUSY" });
      expect(message).toMatch(/another runtime writes it, such as a server, .* \d+ ms; stop that one/);
    }
    expect(treeFingerprint(at.dataDir)).toEqual(before);
  });
});

/** A plan of a change is none of what only looks. */
const isPlan = ({ args: [name] }: { readonly args: readonly string[] }) => name === "undo" || name === "erase";

describe("readOnly", () => {
  const env = { ...process.env, MEMCELL_PLUGINS: shippedNames().join(delimiter) };
  const readOnly = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    memcell(args, { cwd: at.path, env: { ...env, ...more } });
  const ofAlice = ["--user", "alice", "--data", at.dataDir, "--read-only"];

  const looking = reading.filter((each) => !isPlan(each));

  test.for(looking)("$args works and says on standard error what does not", async ({ args }) => {
    const before = treeFingerprint(at.dataDir);
    const name = args[0] === "export" ? ["export", "read-only.zip"] : args;
    const { status, stderr } = await readOnly([...name, ...ofAlice]);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^info read-only: nothing is changed, so these are not available: .*\n$/),
    });
    expect(treeFingerprint(at.dataDir)).toEqual(before);
  });

  const plans = reading.filter(isPlan).map(({ args }) => ({ args, code: "READ_ONLY" }));

  test.for([...changing, ...plans])("$args is $code", async ({ args, code }) => {
    const before = treeFingerprint(at.dataDir);
    const ran = await readOnly([...args, ...ofAlice, "--json"]);
    expect(errorOf(ran).code).toBe(code);
    expect(ran.stdout).not.toContain(at.path);
    expect(treeFingerprint(at.dataDir)).toEqual(before);
  });

  test("lets serve start on a folder that does not exist, and makes none", async () => {
    const args = ["serve", "--user", "alice", "--data", "none", "--read-only"];
    expect(await readOnly(args)).toMatchObject({ status: 0 });
    expect(existsSync(at.place("none"))).toBe(false);
  });
});
