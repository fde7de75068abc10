/** The process is killed between a change set's record and its commit. The log says what was about to change. */
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

/** Runs the workload, which is killed at the first use of a system call in its second call. Returns its output. */
const killedAt = (systemCall: string, args: readonly string[]): Promise<string> =>
  runKilledAt({ systemCall, ordinal: 1, threads: "all" }, workload, args);

test("killed at the flush that commits: the record of the staged changes exists, the call's record does not", async (context) => {
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
  // The next process finishes the change set in the WAL. The log already names its files.
  await using runtime = await createRuntime({ dataDir, auditLog: { file }, threadsMax: 1 });
  await runtime.memoryIndex({ userId: "alice" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: "alice" });
  expect(Object.keys(readUserFiles(dataDir, "alice"))).toContain("memory/b.md");
  expect(
    readRecords(file)
      .map(({ kind }) => kind)
      .slice(4),
  ).toEqual(["opened", "call", "staged", "call"]);
});
