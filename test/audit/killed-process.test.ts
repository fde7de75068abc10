/** The process is killed between a change set's record and its commit: the log tells what was about to change. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { runKilledAt } from "../crash/run-killed-at.ts";
import { whyNoTracing } from "../crash/strace.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";
import { readRecords } from "./audited-stage.ts";

const reason = await whyNoTracing();
const workload = fileURLToPath(
  new URL("dist/test/audit/killed-workload.js", import.meta.resolve("memcell/package.json")),
);

/** Runs the workload, which dies at its second call's first use of a system call. Returns all that it said. */
const killedAt = (systemCall: string, args: readonly string[]): Promise<string> =>
  runKilledAt({ systemCall, ordinal: 1, threads: "all" }, workload, args);

test("killed at the flush that commits: the record of what was staged is there, and that of the call is not", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const [dataDir, file] = [join(folder.path, "data"), join(folder.path, "log", "audit.jsonl")];
  expect(await killedAt("fdatasync", [dataDir, file])).toBe("ready\n");
  const records = readRecords(file);
  expect(records.map(({ kind }) => kind)).toEqual(["opened", "staged", "call", "staged"]);
  expect(records.at(-1)).toMatchObject({
    callId: "second",
    userId: "alice",
    tool: "UpdateUserMemory",
    writes: [{ path: "b.md" }, { path: "MEMORY.md" }],
  });
  // The next process finishes what the journal holds: what it may have changed is what the log says.
  await using runtime = await createRuntime({ dataDir, auditLog: { file }, threadsMax: 1 });
  await runtime.memoryIndex({ userId: "alice" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: "alice" });
  expect(Object.keys(readUserFiles(dataDir, "alice"))).toContain("memory/b.md");
  expect(
    readRecords(file)
      .map(({ kind }) => kind)
      .slice(4),
  ).toEqual(["opened", "call", "call", "staged", "call"]);
});
