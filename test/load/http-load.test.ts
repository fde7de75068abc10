/**
 * 500 clients of 50 users over HTTP for half a minute: calls fail only with `BUSY`, and no acknowledged write is lost. Half
 * of the clients use the MCP revision of 2026, half that of 2025.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { HttpProcess, tokenFlags } from "../stage/http-process.ts";
import { TokenIssuer } from "../stage/token-issuer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";
import type { LoadReport } from "./load-client.ts";
import type { LoadOrder } from "./load-process.ts";

const clientsCount = 500;
const usersCount = 50;
const durationMs = 30_000;

test("500 clients of 50 users lose no write in half a minute", { timeout: 600_000 }, async () => {
  using folder = temporaryFolder();
  await using issuing = await TokenIssuer.start();
  const users = Array.from({ length: usersCount }, (_, at) => `user-${at}`);
  const tokens = await Promise.all(users.map((user) => issuing.token(user)));

  const dataDir = join(folder.path, "data");
  const logFile = join(folder.path, "log", "audit.jsonl");
  // Another test covers the rate limit of a user.
  const limits = ["--requests-per-minute", "1000000"];
  const files = ["--data", dataDir, "--audit-log", logFile];
  await using server = new HttpProcess([...tokenFlags(issuing), ...limits, ...files]);
  const reports = await loadWith({ url: await server.url(), tokens, clientsCount, durationMs });
  expect(await server.end()).toMatchObject({ code: 0 });

  const sum = (key: "calls" | "changes" | "busy"): number => reports.reduce((total, each) => total + each[key], 0);
  const changes = sum("changes");
  console.log(`${sum("calls")} calls, ${changes} changes acknowledged, ${sum("busy")} BUSY`);
  expect(reports).toHaveLength(clientsCount);
  expect(reports.flatMap(({ faults }) => faults)).toEqual([]);
  // A client without a change has tested nothing.
  expect(reports.filter((report) => report.changes === 0)).toEqual([]);

  for (const [at, user] of users.entries()) expect(storedBodies(dataDir, user)).toEqual(expectedBodies(reports, at));
  expect(verifyLog([logFile]).broken).toBeNull();
  expect(await committedCalls(join(folder.path, "log"))).toBe(changes);
});

async function loadWith(order: LoadOrder): Promise<LoadReport[]> {
  const process = fork(fileURLToPath(new URL("../../dist/test/load/load-process.js", import.meta.url)));
  process.send(order);
  const [reports] = (await Promise.race([once(process, "message"), failedExit(process)])) as [LoadReport[]];
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

const expectedBodies = (reports: readonly LoadReport[], user: number): Record<string, string> =>
  Object.fromEntries(
    reports.flatMap(({ id, body }, at) => (at % usersCount === user && body !== null ? [[id, body]] : [])),
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
