/** A server writes the audit log: what only reads does not need it, and what would change something says at once what to do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { createRuntime, memoryStore } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
const [dataDir, file] = [join(folder.path, "data"), join(folder.path, "log/audit.jsonl")];
const alice = { userId: "alice" };
const entry = { action: "upsert", name: "tea", type: "user", description: "Likes tea", body: "Green" } as const;

/** In place of a server. */
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir, auditLog: { file }, threadsMax: 1 });
  await runtime.call("UpdateUserMemory", entry, alice);
  await runtime.call("UpdateUserMemory", { ...entry, name: "gone" }, alice);
  await runtime.call("UpdateUserMemory", { action: "delete", name: "gone" }, alice);
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

/** Beside this process, so that the runtime here gives up what it keeps of a user for some milliseconds. */
async function memcell(...args: readonly string[]) {
  const place = ["--data", dataDir, "--audit-log", file, "--user", "alice"];
  const command = spawn(process.execPath, [program, ...args, ...place], { cwd: folder.path, stdio: "pipe" });
  const ended = once(command, "close") as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(command.stdout), text(command.stderr), ended]);
  return { status, stdout, stderr };
}

test.for(
  [
    ["index"],
    ["doctor"],
    ["trash", "list"],
    ["trash", "purge", "--older-than", "0s"],
    ["history"],
    ["diff", "tea", "before", "1"],
    ["undo", "--since", "1h"],
    ["pending", "list"],
    ["runs", "list"],
    ["stores", "list"],
    ["export", "alice.zip"],
    ["import", "alice.zip"],
    ["erase"],
  ].map((args) => ({ args })),
)("$args reads", async ({ args }) => {
  const before = readRecords(file).length;
  expect(await memcell(...args)).toMatchObject({ status: 0 });
  expect(readRecords(file)).toHaveLength(before);
});

test.for(
  [
    ["call", "UpdateUserMemory", "--input", JSON.stringify({ ...entry, name: "b" })],
    ["doctor", "--fix"],
    ["trash", "purge", "--older-than", "0s", "--yes"],
    ["erase", "--yes"],
  ].map((args) => ({ args })),
)("$args says what to do, changes nothing, and does not wait for as long as a call", async ({ args }) => {
  const { status, stdout } = await memcell(...args);
  expect(status).toBe(1);
  const { error } = JSON.parse(stdout) as { readonly error: { readonly code: string; readonly message: string } };
  expect(error.code).toBe("BUSY");
  const [, waitedMs] =
    /another runtime writes it, such as a server, .* (\d+) ms; stop that one/.exec(error.message) ?? [];
  expect(Number(waitedMs)).toBeLessThan(10_000);
  expect(await runtime.upkeep.listTrash(alice)).toHaveLength(1);
});

describe("a server that starts while another one stops", () => {
  const ownFile = join(folder.path, "log/server.jsonl");
  const serve = () => {
    const args = ["serve", "--data", join(folder.path, "served"), "--audit-log", ownFile, "--user", "alice"];
    const server = spawn(process.execPath, [program, ...args], { cwd: folder.path, stdio: "pipe" });
    return { server, ended: once(server, "close"), waits: once(server.stderr, "data") };
  };

  test("says at once that it waits for the log, and serves when that is free", async () => {
    const old = await createRuntime({ store: memoryStore(), auditLog: { file: ownFile }, threadsMax: 1 });
    const { server, ended, waits } = serve();
    expect(String(await waits)).toMatch(
      /^warn log: audit log: another runtime writes it, such as a server; waiting until it is closed, for at most 30000 ms\n$/,
    );
    // Longer than a command would wait.
    await setTimeout(auditLimits.openMs + 500);
    await old.close();
    server.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    expect(JSON.parse(await text(server.stdout))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await ended).toEqual([0, null]);
  });

  test("is stopped by SIGTERM while it waits", async () => {
    const old = await createRuntime({ store: memoryStore(), auditLog: { file: ownFile }, threadsMax: 1 });
    const { server, ended, waits } = serve();
    await waits;
    const errors = text(server.stderr);
    server.kill("SIGTERM");
    expect(await ended).toEqual([1, null]);
    expect(await errors).toMatch(/^memcell serve: CANCELLED: Cannot open the audit log: .* the wait was ended\n$/);
    await old.close();
  });
});

test("the purge's plan names what would go, with JSON too, and says on which stream that nothing has gone", async () => {
  const { status, stdout } = await memcell("trash", "purge", "--older-than", "0s");
  expect(status).toBe(0);
  expect(stdout).toMatch(/gone\..*\.md {2}\(memory\)\nNothing was changed; use --yes to purge\n$/);
  const asJson = await memcell("trash", "purge", "--older-than", "0s", "--json");
  expect(JSON.parse(asJson.stdout)).toHaveLength(1);
  expect(asJson.stderr).toBe("Nothing was changed; use --yes to purge\n");
  expect(existsSync(join(folder.path, "alice.zip"))).toBe(true);
});
