/**
 * How often the host flushes. A call of a known user costs one flush, which ends before the call is acknowledged. With
 * durability "relaxed" no call waits for the disk.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { stepOf, stepsOf } from "../homes/step.ts";
import { killWorkload, workloadOf } from "../kill/scenario.ts";
import { callsOf } from "../run-killed-at.ts";
import { projectFolder } from "../store-under-test.ts";
import { whyNoTracing } from "../strace.ts";
import { isFlush } from "../syscall-log.ts";

const reason = await whyNoTracing();

test.for([
  { name: "a call of a known user", warm: "write mine", durability: "full", least: 1, most: 1 },
  { name: "the first call of a user", warm: "", durability: "full", least: 2, most: 20 },
  { name: "a call without durability", warm: "write mine", durability: "relaxed", least: 0, most: 0 },
] as const)("$name takes $least to $most flushes before its acknowledgement", async (row, context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const warm = row.warm === "" ? [] : stepsOf(row.warm);
  const scenario = { of: "gate", warm, step: stepOf("write mine again"), durability: row.durability } as const;
  const workload = workloadOf(scenario, join(folder.path, "data"));
  const calls = await callsOf(killWorkload, workload, { logFile: join(folder.path, "log"), onReady: () => {} });
  const acknowledged = calls.findIndex(({ text }) => text.startsWith("writev(1<"));
  const flushes = calls.slice(0, acknowledged).filter(({ name }) => isFlush(name)).length;
  expect(acknowledged).toBeGreaterThan(0);
  expect(flushes).toBeGreaterThanOrEqual(row.least);
  expect(flushes).toBeLessThanOrEqual(row.most);
});

test("a call on the command line is durable before it is printed", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const log = join(folder.path, "log");
  const input = JSON.stringify({ action: "upsert", name: "e", type: "user", description: "A fact", body: "" });
  const options = ["--user", "alice", "--data", join(folder.path, "data"), "--input", input];
  const command = [join(projectFolder, "dist/host/cli/main.js"), "call", "UpdateUserMemory", ...options];
  const tracing = ["-f", "-o", log, "-e", "trace=fsync,fdatasync,write"];
  for (const user of ["a new user", "the same user again"]) {
    await promisify(execFile)("strace", [...tracing, process.execPath, ...command]);
    const [before = "", answer] = readFileSync(log, "utf8").split(" write(1, ");
    expect(answer, user).toBeDefined();
    expect(before, user).toMatch(/f(?:data)?sync(?:\(\d+\)| resumed>\)) += 0/);
  }
});
