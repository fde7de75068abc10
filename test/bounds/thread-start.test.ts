/** A thread that cannot start fails the calls that wait for it, in time and with its cause, until the cause is gone. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { copyPackage } from "../support/copied-clone.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** A copy of the package, which the processes break. */
const copy = join(folder.path, "copy");
const program = fileURLToPath(new URL("../../dist/test/bounds/starting-process.js", import.meta.url));

interface EndedProcess {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Ends a process that does not end by itself, and so fails its test. */
const timeout = 100_000;

function run(args: readonly string[]): Promise<EndedProcess> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout, killSignal: "SIGKILL" }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr }),
    );
  });
}

/** What each scenario says of each way in which code is broken, all in one process, which ends by itself. */
async function outcomes(rows: readonly Row[], flags: readonly string[] = []): Promise<Record<string, unknown>> {
  const plays = rows.map(([scenario, how]) => `${scenario}: ${how}`);
  const { code, stdout, stderr } = await run([...flags, program, copy, ...plays]);
  if (code !== 0) throw new Error(`The process ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

type Row = readonly [scenario: string, how: string, outcome: object, title: string];

const isInternal = { first: "INTERNAL", index: "INTERNAL", next: "ok", isTold: true };
const works = "a call is INTERNAL, and the next one after that works";
const pending = { first: "WRITE_PENDING", isTold: true, next: "ok" };
const waits = "writes wait for their owner, and the operator is told";

const rows: readonly Row[] = [
  ["a call", "is missing", isInternal, works],
  ["a call", "is cut off", isInternal, works],
  ["a call", "throws", isInternal, works],
  ["a call", "exits", isInternal, works],
  ["a call", "waits for ever", isInternal, works],
  ["a cancelled call", "spins", { first: "CANCELLED", next: "ok" }, "the caller's signal ends the call"],
  ["a closed runtime", "spins", { calls: ["CANCELLED", "CANCELLED", "CANCELLED"] }, "close() ends all calls"],
  ["a slow start", "is slow", { first: "ok" }, "the thread serves the call that waits for it"],
  // The line of the thread, and that of the first call.
  [
    "many calls",
    "throws",
    { codes: ["INTERNAL"], isBounded: true, told: 2 },
    "no thread more than they need is started, and the operator is told once",
  ],
  [
    "a later start",
    "is missing",
    { first: "ok", beside: ["ok"], isBounded: true, failing: "INTERNAL", next: "ok" },
    "threads of before serve all calls",
  ],
  ["credentials", "is missing", pending, waits],
  ["credentials", "exits", pending, waits],
  ["credentials", "spins", pending, waits],
  // Stays open to the end of the process, which ends all the same.
  ["an open runtime", "waits for ever", { first: "INTERNAL" }, "the process ends by itself"],
];

let found: Record<string, unknown>;
beforeAll(async () => {
  copyPackage(copy);
  found = await outcomes(rows);
}, timeout);

test.for(rows)("%s while the code of a thread %s: $3", ([scenario, how, outcome]) => {
  expect(found[`${scenario}: ${how}`]).toEqual(outcome);
});

test("a process that may not make code from strings runs tools", async () => {
  const flags = ["--disallow-code-generation-from-strings"];
  const row = ["an open runtime", "is whole", { first: "ok" }, ""] as const;
  expect(await outcomes([row], flags)).toEqual({ "an open runtime: is whole": row[2] });
});

test("memcell call prints the failure and exits with 1", async () => {
  await run(["-e", `require("node:fs").rmSync(${JSON.stringify(join(copy, "dist/host/thread/worker.js"))})`]);
  const command = join(copy, "dist/host/cli/main.js");
  const input = JSON.stringify({ action: "delete", name: "a" });
  const args = ["call", "UpdateUserMemory", "--data", join(copy, "data"), "--user", "alice", "--input", input];
  const { code, stdout, stderr } = await run([command, ...args]);
  expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 1, answer: { error: { code: "INTERNAL" } } });
  expect(stderr).toContain("Cannot start a thread");
});
