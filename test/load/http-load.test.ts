/**
 * 500 clients of 50 users over HTTP for a minute: calls fail only with `BUSY`, and no acknowledged write is lost. Half
 * of the clients use the MCP revision of 2026, half that of 2025 with sessions.
 */
import { fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { exportSPKI, generateKeyPair, SignJWT } from "jose";
import type { CryptoKey } from "jose";
import { expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";
import type { LoadOrder, LoadReports } from "./load-process.ts";

const clientsCount = 500;
const usersCount = 50;
const durationMs = 60_000;

const built = (path: string): string => fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
const command = built("host/cli/main.js");
const issuer = "https://issuer.example";
const audience = "https://memory.example";

test("500 clients of 50 users lose no write in a minute", { timeout: 600_000 }, async () => {
  using folder = temporaryFolder();
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keyFile = join(folder.path, "key.pem");
  writeFileSync(keyFile, await exportSPKI(publicKey));
  const users = Array.from({ length: usersCount }, (_, at) => `user-${at}`);
  const tokens = await Promise.all(users.map((user) => tokenFor(user, privateKey)));

  const dataDir = join(folder.path, "data");
  const logFile = join(folder.path, "log", "audit.jsonl");
  const server = startServer(["--data", dataDir, "--audit-log", logFile, "--public-key", keyFile]);
  const url = await urlOf(server);
  const reports = await loadWith({ url, tokens, clientsCount, durationMs });
  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);

  const all = Object.values(reports);
  const sum = (count: (report: LoadReports[string]) => number): number =>
    all.reduce((total, report) => total + count(report), 0);
  const changes = sum((report) => report.changes);
  console.log(`${sum(({ calls }) => calls)} calls, ${changes} changes acknowledged, ${sum(({ busy }) => busy)} BUSY`);
  expect(all).toHaveLength(clientsCount);
  expect(all.flatMap(({ faults }) => faults)).toEqual([]);
  // A client without a change has tested nothing.
  expect(all.filter((report) => report.changes === 0)).toEqual([]);

  for (const [at, user] of users.entries()) expect(storedBodies(dataDir, user)).toEqual(expectedBodies(reports, at));
  expect(await runCommand(process.execPath, [command, "audit", "verify", logFile])).toContain("records");
  expect(await committedCalls(join(folder.path, "log"))).toBe(changes);
});

function tokenFor(user: string, privateKey: CryptoKey): Promise<string> {
  const token = new SignJWT({ sub: user }).setProtectedHeader({ alg: "ES256" });
  return token.setIssuer(issuer).setAudience(audience).setExpirationTime("1h").sign(privateKey);
}

function startServer(args: readonly string[]): ChildProcess {
  // Another test covers the rate limit of a user.
  const limits = ["--requests-per-minute", "1000000", "--sessions-per-user-max", "100"];
  const access = ["--issuer", issuer, "--audience", audience];
  const all = [command, "serve", "--http", "--port", "0", ...access, ...limits, ...args];
  return spawn(process.execPath, all, { stdio: ["ignore", "inherit", "pipe"] });
}

/** Reads the server's address from its standard error. */
async function urlOf(server: ChildProcess): Promise<string> {
  if (!server.stderr) throw new Error("the server has no standard error");
  for await (const line of createInterface({ input: server.stderr })) {
    const found = /http:\/\/\S+/.exec(line);
    if (found) {
      server.stderr.resume();
      return found[0];
    }
    console.log(line);
  }
  throw new Error("the server has ended before it listened");
}

async function loadWith(order: LoadOrder): Promise<LoadReports> {
  const process = fork(built("test/load/load-process.js"));
  process.send(order);
  const [reports] = (await Promise.race([once(process, "message"), failedExit(process)])) as [LoadReports];
  return reports;
}

async function failedExit(process: ChildProcess): Promise<never> {
  const [code] = (await once(process, "exit")) as [number | null];
  throw new Error(`the clients' process has ended with ${code}`);
}

/** The entries' bodies, by name. Fails unless the index names exactly these entries. */
function storedBodies(dataDir: string, user: string): Record<string, string> {
  const { "memory/MEMORY.md": index = "", ...files } = readUserFiles(dataDir, user);
  const entries = Object.entries(files).filter(([path]) => !path.startsWith("memory/trash/"));
  const bodies = entries.map(([path, text]) => {
    const name = path.slice("memory/".length, -".md".length);
    return [name, text.slice(text.indexOf("\n---\n") + "\n---\n".length)] as const;
  });
  const named = Array.from(index.matchAll(/^- \[([^\]]+)\]/gm), ([, name = ""]) => name);
  expect(named.toSorted()).toEqual(bodies.map(([name]) => name).toSorted());
  return Object.fromEntries(bodies);
}

const expectedBodies = (reports: LoadReports, user: number): Record<string, string> =>
  Object.assign(
    {},
    ...Object.entries(reports).map(([id, { bodies }]) => (Number(id.slice(1)) % usersCount === user ? bodies : {})),
  );

/** Counts in all files of the log, because it is rotated. */
async function committedCalls(logFolder: string): Promise<number> {
  let count = 0;
  for (const name of readdirSync(logFolder).filter((each) => each.endsWith(".jsonl"))) {
    for await (const line of createInterface({ input: createReadStream(join(logFolder, name)) })) {
      const record = JSON.parse(line) as { kind: string; changes?: string };
      if (record.kind === "call" && record.changes === "committed") count++;
    }
  }
  return count;
}
