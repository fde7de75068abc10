/** What only a process of the command shows: its start, its streams, a terminal, signals, and the room that it gets. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

import { createRuntime, memoryStore } from "memcell";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { TestContext } from "vitest";

import { openFiles } from "../stage/open-store.ts";
import { oneIn } from "../stage/seed.ts";
import { program } from "../stage/serve-lines.ts";
import type { UserId } from "../stage/store.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { runOnTerminal, whyNoTerminal } from "../support/pseudo-terminal.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const input = JSON.stringify({ action: "upsert", name: "a", type: "user", description: "d", body: "b" });

test("a program that is started by its name reads standard input, prints its result and exits with its code", () => {
  using folder = temporaryFolder();
  const ofAlice = ["--user", "alice", "--data", join(folder.path, "data")];
  const options = { cwd: root, encoding: "utf8" } as const;
  const npx = execFileSync("npx", ["memcell", "call", "UpdateUserMemory", ...ofAlice], { ...options, input });
  expect(JSON.parse(npx)).toMatchObject({ ok: true, data: { name: "a" } });
  const read = [program, "call", "ReadUserMemory", ...ofAlice, "--input", '{"name":"none"}'];
  const { status, stdout, stderr } = spawnSync(process.execPath, read, options);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND" } });
  expect(spawnSync(process.execPath, [program, "remember"], options)).toMatchObject({ status: 2, stdout: "" });
});

test("a removed working directory is reported in a sentence, and help works without one", () => {
  using gone = temporaryFolder();
  const run = (...args: string[]) =>
    spawnSync("sh", ["-c", 'rmdir "$PWD" && exec "$@"', "sh", process.execPath, program, ...args], {
      cwd: mkdtempSync(join(gone.path, "cwd-")),
      encoding: "utf8",
    });
  const sentence = "the working directory no longer exists; expected an existing one";
  for (const args of [["index", "--user", "alice"], ["config"]]) {
    const stderr = `memcell ${args[0]}: ${sentence}\nTry "memcell ${args[0]} --help"\n`;
    expect(run(...args)).toMatchObject({ status: 2, stdout: "", stderr });
  }
  expect(run("index", "--help")).toMatchObject({ status: 0, stderr: "" });
});

// The engine reserves about 10 GB for each memory: at the lower limit not the first one fits, at the higher one not the second.
test.for(oneIn(2, [8_000_000, 16_000_000]))(
  "with %d KiB of addresses, a call is the host's INTERNAL",
  (kib, context) => {
    if (process.platform !== "linux") skipWithReason(context, "only Linux enforces ulimit -v");
    using folder = temporaryFolder();
    const args = [program, "call", "UpdateUserMemory", "--user", "alice", "--input", input, "--data", folder.path];
    const limited = ["-c", `ulimit -v ${kib}; exec "$0" "$@"`, process.execPath, ...args];
    const { status, stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: "INTERNAL", blame: "host", message: expect.stringContaining("no memory for the plugin") },
    });
    expect(stderr).toContain("Out of memory");
  },
);

/** A command that finds its audit log in use. */
async function waiting(...command: readonly string[]) {
  const folder = temporaryFolder();
  const file = join(folder.path, "log/server.jsonl");
  const old = await createRuntime({ store: memoryStore(), auditLog: { file }, threadsMax: 1 });
  const args = [...command, "--data", join(folder.path, "data"), "--audit-log", file, "--user", "alice"];
  const server = spawn(process.execPath, [program, ...args], { stdio: "pipe" });
  const ended = once(server, "close");
  const [warning] = (await once(server.stderr, "data")) as [Buffer];
  return {
    old,
    server,
    ended,
    warning: String(warning),
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await old.close();
      folder[Symbol.dispose]();
    },
  };
}

describe("a server that starts while another one writes its log", () => {
  test("says at once that it waits, and serves when the log is free", async () => {
    await using at = await waiting("serve");
    expect(at.warning).toMatch(
      /^warn log: audit log: another runtime writes it, such as a server; waiting until it is closed, for at most 30000 ms\n$/,
    );
    await at.old.close();
    at.server.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    expect(JSON.parse(await text(at.server.stdout))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await at.ended).toEqual([0, null]);
  });

  test("is stopped by SIGTERM", async () => {
    await using at = await waiting("serve");
    const errors = text(at.server.stderr);
    at.server.kill("SIGTERM");
    expect(await at.ended).toEqual([1, null]);
    expect(await errors).toMatch(/^memcell serve: CANCELLED: Cannot open the audit log: .* the wait was ended\n$/);
  });
});

test("a command that is not told how long waits for 2 s at most", async () => {
  await using at = await waiting("stores", "grant", "bob");
  expect(at.warning).toMatch(/; waiting until it is closed, for at most 2000 ms\n$/);
  await at.old.close();
  expect(await at.ended).toEqual([0, null]);
});

test("an export that is interrupted leaves nothing of itself", async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const notes = Array.from({ length: 900 }, (_, at) => [`memory/n${at}.md`, "Note\n"] as const);
  writeUserFiles(dataDir, { alice: Object.fromEntries(notes) });
  const out = join(folder.path, "out");
  mkdirSync(out);
  const watcher = watch(out);
  const args = ["export", "--data", dataDir, "--format", "markdown", join(out, "alice")];
  const command = spawn(process.execPath, [program, ...args], { stdio: "pipe" });
  const [errors, ended] = [text(command.stderr), once(command, "close")];
  await once(watcher, "change");
  command.kill("SIGINT");
  expect(await ended).toEqual([1, null]);
  watcher.close();
  expect(await errors).toBe("memcell export: Cannot export the memory: it was interrupted\n");
  expect(readdirSync(out)).toEqual([]);
});

/** Each message is wider than a terminal. */
function writeLongRun(dataDir: string): number {
  const data = { message: "東京 ".repeat(200) };
  const event = { type: "user_message", timestamp: "2026-01-01T10:00:00Z", data, labels: {} };
  const lines = Array.from({ length: 400 }, () => `${JSON.stringify(event)}\n`);
  writeUserFiles(dataDir, { alice: { "runs/planner/long/000001.jsonl": lines.join("") } });
  return lines.length;
}

test("a command whose reader has read enough ends quietly", () => {
  using folder = temporaryFolder();
  writeLongRun(folder.path);
  const show = `"$0" "$1" runs show planner long --user alice --data .`;
  const script = `{ ${show}; echo "exit code $?" >&2; } | head -1`;
  const options = { encoding: "utf8", cwd: folder.path } as const;
  const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, program], options);
  expect(stderr).toBe("exit code 0\n");
  expect(stdout).toMatch(/^2026-01-01T10:00:00Z {2,}user_message .* 東京 [^\n]*\n$/);
});

const { CI: _ci, ...environment } = process.env;
const watched = { ...environment, TERM: "xterm" };

function needTerminal(context: TestContext): void {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
}

test("on a terminal, a line is as wide as the terminal at most", async (context) => {
  needTerminal(context);
  using folder = temporaryFolder();
  const count = writeLongRun(folder.path);
  const args = ["runs", "show", "planner", "long", "--data", folder.path, "--user", "alice"];
  const shape = { environment: { ...watched, CI: "true" }, columns: 90, hasOutput: true };
  const { status, terminal } = await runOnTerminal([process.execPath, program, ...args], shape);
  expect(status).toBe(0);
  const lines = terminal.split("\r\n");
  expect(lines.pop()).toBe("");
  expect(lines).toHaveLength(count);
  for (const line of lines) expect(line).toMatch(/…$/);
  for (const line of lines) expect([89, 90]).toContain(stringWidth(line));
});

test("on a terminal that shows colours, a report has colours, and nothing else that its plain text has not", async (context) => {
  needTerminal(context);
  using folder = temporaryFolder();
  const file = join(folder.path, "\u001b[31mPASS\u001b[2J\u009b1m.wasm");
  copyFileSync(shippedPlugin("user-memory"), file);
  const command = [process.execPath, program, "audit", file];
  const shape = { environment: { ...environment, TERM: "xterm-256color" }, columns: 200, hasOutput: true };
  const { status, terminal } = await runOnTerminal(command, shape);
  const plain = spawnSync(process.execPath, command.slice(1), { encoding: "utf8" });
  expect(status).toBe(plain.status);
  expect(terminal).toContain("\u001b[32mPASS");
  expect(stripVTControlCharacters(terminal).replaceAll("\r\n", "\n")).toBe(plain.stdout);
});

const users = ["alice", "bob", "carol"];

/** Three users, one of whom is locked for every other process until `release` is called. */
async function lockedStage() {
  const folder = temporaryFolder();
  const files = { "memory/MEMORY.md": indexLine("a") + indexLine("b"), "memory/a.md": entryText("a") };
  writeUserFiles(folder.path, Object.fromEntries(users.map((userId) => [userId, files])));
  const store = openFiles(folder.path);
  const options = { writes: true, until: Number.MAX_VALUE };
  // A first commit creates the lock file.
  for (const userId of users) {
    const write = { kind: "write", scope: "memory", path: "b.md", content: entryText("b") } as const;
    await store.holdUser(userId as UserId, options, (held) => held.commit([write], []));
  }
  const signals = new EventEmitter();
  const held = once(signals, "held");
  const holding = store.holdUser("bob" as UserId, options, async () => {
    signals.emit("held");
    await once(signals, "release");
  });
  await held;
  return {
    doctor: [process.execPath, program, "doctor", "--data", folder.path],
    release: (): void => void signals.emit("release"),
    async [Symbol.asyncDispose]() {
      signals.emit("release");
      await holding;
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Before it, WALs can be listed that the test's own runtime still uses. */
const looked = { status: 0, stdout: expect.stringMatching(/(?:^|to mend\n)3 users checked\n$/) as string };

describe("progress", () => {
  test("is shown in the host's own words while a command waits, and nothing of it stays", async (context) => {
    needTerminal(context);
    await using at = await lockedStage();
    const run = await runOnTerminal(at.doctor, { environment: watched }, (terminal) => {
      if (terminal.includes("doctor: 2 of 3 users")) at.release();
    });
    expect(run).toMatchObject(looked);
    for (const userId of users) expect(run.terminal).not.toContain(userId);
    // After the last state the line is cleared and nothing more is written.
    const [, rest = ""] = run.terminal.split(/.*users/s);
    expect(rest).toContain("\u001b[1G\u001b[0K");
    expect(stripVTControlCharacters(rest)).toBe("");
  });

  test("does not appear with --json, in CI, on a dumb terminal, without columns, or on a pipe", async (context) => {
    needTerminal(context);
    await using at = await lockedStage();
    const [command = "", ...args] = at.doctor;
    // Two or three of them with each seed.
    const ways = oneIn(2, [
      () => runOnTerminal([...at.doctor, "--json"], { environment: watched }),
      () => runOnTerminal(at.doctor, { environment: { ...watched, CI: "true" } }),
      () => runOnTerminal(at.doctor, { environment: { ...watched, TERM: "dumb" } }),
      () => runOnTerminal(at.doctor, { environment: watched, columns: 0 }),
      () => text(spawn(command, args, { env: watched }).stderr).then((terminal) => ({ terminal })),
    ]);
    const quiet = ways.map((run) => run());
    // They all wait for bob. When a doctor that started later has shown progress, they would have shown it too.
    await runOnTerminal(at.doctor, { environment: watched }, (terminal) => {
      if (terminal.includes("doctor: 2 of 3 users")) at.release();
    });
    for (const { terminal } of await Promise.all(quiet)) expect(terminal).toBe("");
  });

  test("stops on a terminal that loses its columns, where lines cannot be cleared", async (context) => {
    needTerminal(context);
    await using at = await lockedStage();
    const shape = { environment: watched, columnsLater: 0 };
    expect(await runOnTerminal(at.doctor, shape, () => at.release())).toMatchObject(looked);
  });
});
