/** A killed import is complete or has no effect, also one that replaces files and fills the trash. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { whyNoTracing } from "../crash/strace.ts";
import { asMemoryFiles, asTexts, entryText, indexLine } from "../support/memory-files.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const names = Array.from({ length: 8 }, (_, at) => `e${at}`);
const before = asMemoryFiles({
  "MEMORY.md": names.slice(0, 4).map(indexLine).join(""),
  ...Object.fromEntries(names.slice(0, 4).map((name) => [`${name}.md`, entryText(name, "before")])),
});
const files = asMemoryFiles({
  ...Object.fromEntries(names.map((name) => [`${name}.md`, entryText(name, "after")])),
  "trash/x.20250101T000000000Z.md": "x",
});

async function prepare(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  await runtime.upkeep.import({ userId: "bob" }, before);
}

/** A user's files, without the time stamps of trashed ones, and without recovery's copy of the former index. */
async function stateOf(dataDir: string): Promise<string> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  const { files: found } = await runtime.upkeep.export({ userId: "bob" });
  expect(await runtime.upkeep.inspect({ userId: "bob" })).toEqual([]);
  const compared = found.filter(({ path }) => !path.startsWith("trash/MEMORY."));
  return JSON.stringify(asTexts(compared)).replaceAll(/\d{8}T\d{9}Z/g, "");
}

/** The kernel kills the process before its n-th use of a system call. */
async function importKilledAt(dataDir: string, zip: string, point: readonly [call: string, nth: number] | null) {
  const injection = point ? ["-e", `trace=${point[0]}`, "-e", `inject=${point[0]}:signal=KILL:when=${point[1]}`] : [];
  const command = [process.execPath, program, "import", "--user", "bob", "--yes", "--replace", zip, "--data", dataDir];
  const traced = point ? ["strace", "-f", "-o", "/dev/null", ...injection, ...command] : command;
  const [name = "", ...args] = traced;
  const child = spawn(name, args, { stdio: "ignore", env: { ...process.env, UV_THREADPOOL_SIZE: "1" } });
  const [status, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { isDone: status === 0, isKilled: signal === "SIGKILL" || status === 137 };
}

test("killed while it stages, writes the WAL and applies it", { timeout: 300_000 }, async (context) => {
  const reason = await whyNoTracing();
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const zip = join(folder.path, "files.zip");
  writeFileSync(zip, await zippedBytes(files));
  const template = join(folder.path, "template");
  await prepare(template);
  const undone = await stateOf(template);
  const whole = join(folder.path, "whole");
  cpSync(template, whole, { recursive: true });
  expect(await importKilledAt(whole, zip, null)).toMatchObject({ isDone: true });
  const done = await stateOf(whole);
  const states: boolean[] = [];
  // Each replaced file is moved away and its successor moved in. With the index that is 8 new files, 4 in the trash and
  // one more.
  for (const point of [["pwrite64", 1], ["fdatasync", 1], ...[1, 2, 5, 9, 13].map((nth) => ["rename", nth])] as [
    string,
    number,
  ][]) {
    const dataDir = join(folder.path, point.join("-"));
    cpSync(template, dataDir, { recursive: true });
    expect({ point, ...(await importKilledAt(dataDir, zip, point)) }).toMatchObject({ point, isKilled: true });
    const state = await stateOf(dataDir);
    expect([undone, done]).toContain(state);
    states.push(state === done);
  }
  expect(new Set(states)).toEqual(new Set([false, true]));
});
