/**
 * How often the store flushes. A call of a known user costs one flush, which ends before the call is acknowledged. With
 * durability "relaxed" no call waits for the disk.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { compiledScript, projectFolder } from "../store-under-test.ts";
import { whyNoTracing } from "../strace.ts";

const reason = await whyNoTracing();
const flushes = ["fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync"];

/** The system calls of a process and all its threads, in order: flushes that have ended, and the workload's marks. */
async function trace(folder: string, command: readonly string[]): Promise<string[]> {
  const log = join(folder, "log");
  const calls = `trace=${[...flushes, "write", "access", "faccessat", "statx", "stat", "newfstatat"].join(",")}`;
  await promisify(execFile)("strace", ["-f", "-o", log, "-e", calls, process.execPath, ...command]);
  return readFileSync(log, "utf8")
    .split("\n")
    .map((line) => line.replace(/^\d+ +/, ""))
    .flatMap((line) => {
      const mark = /"\/mark: (.*)\/"/.exec(line)?.[1];
      if (mark !== undefined) return [mark];
      if (line.startsWith("write(1, ")) return ["printed"];
      const flush = /^(?:<\.\.\. )?([a-z_]+)(?:\(| resumed)/.exec(line)?.[1] ?? "";
      return flushes.includes(flush) && line.endsWith("= 0") ? ["flush"] : [];
    });
}

/** The flushes between two marks. */
function between(log: readonly string[], from: string, to: string): number {
  expect(log).toContain(from);
  expect(log).toContain(to);
  return log.slice(log.indexOf(from), log.indexOf(to)).filter((each) => each === "flush").length;
}

const workload = compiledScript("fault/flush-workload.js");
const callNumbers = Array.from({ length: 50 }, (_, at) => at + 1);

test("50 acknowledged upserts take exactly 50 flushes, each before its acknowledgement", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const log = await trace(folder.path, [workload, join(folder.path, "data"), "full"]);
  const each = callNumbers.map((count) => between(log, `call ${count}`, `call ${count} is acknowledged`));
  expect(each).toEqual(callNumbers.map(() => 1));
  expect(between(log, "call 1", "call 50 is acknowledged")).toBe(50);
  const first = between(log, "first call", "first call is acknowledged");
  const retirement = between(log, "retirement", "the end");
  console.log(
    `flushes: ${first} for the first call of a new user, 1 for each later one, ${retirement} for a retirement`,
  );
  // The WAL, the data folder's name, the owner's record and the folders on the way.
  expect(first).toBeGreaterThan(1);
  // Six facts, the index and the folders once each, then the WAL, however many calls there were.
  expect(retirement).toBeLessThan(15);
});

test('durability "relaxed" flushes nothing before an acknowledgement', async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const log = await trace(folder.path, [workload, join(folder.path, "data"), "relaxed"]);
  const first = between(log, "first call", "first call is acknowledged");
  const later = between(log, "call 1", "call 50 is acknowledged");
  const retirement = between(log, "retirement", "the end");
  console.log(
    `relaxed: ${first} flushes for the first call of a new user, ${later} for 50 more, ${retirement} at the end`,
  );
  expect(later).toBe(0);
});

test("a call on the command line is durable before it is printed", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const program = join(projectFolder, "dist/host/cli/main.js");
  const input = JSON.stringify({ action: "upsert", name: "e", type: "user", description: "A fact", body: "" });
  const options = ["--user", "alice", "--data", join(folder.path, "data"), "--input", input];
  const command = [program, "call", "UpdateUserMemory", ...options];
  const counts: string[] = [];
  for (const user of ["a new user", "the same user again"]) {
    const log = await trace(folder.path, command);
    const total = log.filter((each) => each === "flush").length;
    const before = log.slice(0, log.indexOf("printed")).filter((each) => each === "flush").length;
    counts.push(`${total} for ${user}, ${before} of them before the answer is printed`);
    expect(log).toContain("printed");
    expect(before).toBeGreaterThan(0);
  }
  console.log(`command line, flushes: ${counts.join("; ")}`);
});
