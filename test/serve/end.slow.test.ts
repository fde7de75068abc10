/** How a server starts and ends: nothing acknowledged is lost, and nothing is left behind. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";

import { entry, program, serveAlone, ServeLines } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";

const open = async (dataDir: string): Promise<ServeLines<ReturnType<typeof serveAlone>>> =>
  await ServeLines.over(serveAlone(["--user", "alice", "--data", dataDir]));

const names = Array.from({ length: 20 }, (_, index) => `n${index}`);

test("at the end of input, finishes and answers the requests read before", async () => {
  using folder = temporaryFolder();
  await using served = await open(folder.path);
  const asked = names.map((name) => served.call("UpdateUserMemory", entry(name)));
  served.wires.stdin.end('{"jsonrpc":"2.0","id":"half","method":"tools/ca');
  for (const reply of await Promise.all(asked)) expect(reply).toMatchObject({ result: { structuredContent: {} } });
  const stderr = "warn mcp: refused a request: line-unfit\n";
  expect(await served.ended).toEqual({ code: 0, signal: null, stderr, strayLines: [] });
  const files = Object.keys(readUserFiles(folder.path, "alice"));
  expect(files).toEqual(expect.arrayContaining(names.map((name) => `memory/${name}.md`)));
});

test.for(["SIGTERM", "SIGINT", "SIGHUP"] as const)("on %s, finishes and answers what it has read", async (signal) => {
  using folder = temporaryFolder();
  await using served = await open(folder.path);
  const first = served.call("UpdateUserMemory", entry("first"));
  await first;
  const second = served.call("UpdateUserMemory", entry("second"));
  await served.ask("ping");
  served.wires.child.kill(signal);
  expect(await second).toMatchObject({ result: { structuredContent: { outcome: "created" } } });
  expect(await served.ended).toEqual({ code: 0, signal: null, stderr: "", strayLines: [] });
});

test("a client closes the server's output: no crash, and the process ends", async () => {
  using folder = temporaryFolder();
  await using served = await open(folder.path);
  served.wires.stdout.destroy();
  void served.call("UpdateUserMemory", entry("a"));
  expect(await served.ended).toMatchObject({ code: 0, signal: null, stderr: "" });
  expect(Object.keys(readUserFiles(folder.path, "alice"))).toContain("memory/a.md");
});

test("a client closes standard error and sends something that is logged: no crash", async () => {
  using folder = temporaryFolder();
  await using served = await open(folder.path);
  served.wires.stderr.destroy();
  served.write(`${"x".repeat(2_000_000)}\n`);
  served.wires.stdin.end();
  const [code] = (await once(served.wires.child, "exit")) as [number | null];
  expect(code).toBe(0);
});

test("a client reads nothing: the server ends after the grace period", async () => {
  using folder = temporaryFolder();
  const args = [program, "serve", "--user", "alice", "--data", folder.path, "--close-grace-ms", "100"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
  await once(child.stdout, "readable");
  const lists = Array.from({ length: 2_000 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`);
  child.stdin.write(lists.join(""));
  child.kill("SIGTERM");
  const ended = await once(child, "exit");
  child.stdout.destroy();
  expect(ended).toEqual([0, null]);
});

test("with one id for many requests and a cancellation of it, answers the rest and ends", async () => {
  using folder = temporaryFolder();
  await using served = await open(folder.path);
  for (const name of names) {
    served.send({ id: "same", method: "tools/call", params: { name: "UpdateUserMemory", arguments: entry(name) } });
  }
  served.send({ method: "notifications/cancelled", params: { requestId: "same" } });
  expect(await served.ask("ping")).toMatchObject({ result: {} });
  served.wires.stdin.end();
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
});

test.for<readonly [what: string, args: readonly string[], status: number, says: RegExp]>([
  ["no user", [], 2, /serve\.user \(--user\) is missing/],
  ["a user with a line feed", ["--user", "a\nb"], 2, /serve\.user .* is "a\\nb"/],
  ["a missing policy", ["--user", "alice", "--policy", "none.json"], 1, /PLUGIN_REFUSED: Cannot use policy/],
  // Not a mistake: it ends with its input.
  ["a client that sends nothing", ["--user", "alice"], 0, /^$/],
])("with %s, does not serve, says why on standard error, and creates nothing", ([, args, status, says]) => {
  using folder = temporaryFolder();
  const options = { cwd: folder.path, encoding: "utf8", input: "" } as const;
  const refused = spawnSync(process.execPath, [program, "serve", ...args], options);
  expect(refused).toMatchObject({ status, stdout: "" });
  expect(refused.stderr).toMatch(says);
  expect(userFolderNames(join(folder.path, "data"))).toEqual([]);
});
