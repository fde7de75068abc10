/** A thread that cannot start fails the calls that wait for it, in time and with its cause, until the cause is gone. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { copyPackage } from "../support/copied-clone.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
let copies = 0;

/** A copy of the package that only one process breaks. */
function freshCopy(): string {
  const copy = join(folder.path, `copy-${copies++}`);
  copyPackage(copy);
  return copy;
}

const program = fileURLToPath(new URL("../../dist/test/bounds/starting-process.js", import.meta.url));

interface EndedProcess {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Ends a process that does not end by itself, and so fails its test. */
const timeout = 50_000;

function run(args: readonly string[]): Promise<EndedProcess> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout, killSignal: "SIGKILL" }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr }),
    );
  });
}

/** What a scenario says of each way in which code is broken. */
async function outcomes(scenario: string, ways: readonly string[], flags: readonly string[] = []): Promise<unknown> {
  const { code, stdout, stderr } = await run([...flags, program, freshCopy(), scenario, ...ways]);
  return code === 0 ? JSON.parse(stdout) : { code, stdout, stderr };
}

const each = (ways: readonly string[], outcome: object): object =>
  Object.fromEntries(ways.map((how) => [how, outcome]));

const failing = ["is missing", "is cut off", "throws", "exits"];
const stuck = ["waits for ever", "spins"];

test.for([failing, stuck])(
  "the code of a thread %j: a call is INTERNAL, and the next one after that works",
  async (ways) => {
    const outcome = { first: "INTERNAL", index: "INTERNAL", next: "ok", isTold: true };
    expect(await outcomes("a call", ways)).toEqual(each(ways, outcome));
  },
);

test("while a thread starts for ever, the caller's signal ends the call", async () => {
  expect(await outcomes("a cancelled call", stuck)).toEqual(each(stuck, { first: "CANCELLED", next: "ok" }));
});

test("while a thread starts for ever, close() ends all calls", async () => {
  const calls = ["CANCELLED", "CANCELLED", "CANCELLED"];
  expect(await outcomes("a closed runtime", stuck)).toEqual(each(stuck, { calls }));
});

test("a thread that starts slowly serves the call that waits for it", async () => {
  expect(await outcomes("a slow start", ["is slow"])).toEqual(each(["is slow"], { first: "ok" }));
});

test("calls that fail start no thread more than they need, and tell the operator once", async () => {
  // The line of the thread, and that of the first call.
  const outcome = { codes: ["INTERNAL"], isBounded: true, told: 2 };
  expect(await outcomes("many calls", ["throws"])).toEqual(each(["throws"], outcome));
});

test("threads of before serve all calls while no other can start", async () => {
  const outcome = { first: "ok", beside: ["ok"], isBounded: true, failing: "INTERNAL", next: "ok" };
  expect(await outcomes("a later start", ["is missing"])).toEqual(each(["is missing"], outcome));
});

test.for(["is missing", "waits for ever"])("the code of a thread %s: the process ends by itself", async (how) => {
  expect(await outcomes("an open runtime", [how])).toEqual(each([how], { first: "INTERNAL" }));
});

test("a process that may not make code from strings runs tools", async () => {
  const flags = ["--disallow-code-generation-from-strings"];
  expect(await outcomes("an open runtime", ["is whole"], flags)).toEqual(each(["is whole"], { first: "ok" }));
});

test("the code that finds credentials cannot start: writes wait for their owner, and the operator is told", async () => {
  const ways = [...failing, ...stuck];
  const outcome = { first: "WRITE_PENDING", isTold: true, next: "ok" };
  expect(await outcomes("credentials", ways)).toEqual(each(ways, outcome));
});

test("memcell call prints the failure and exits with 1", async () => {
  const copy = freshCopy();
  await run(["-e", `require("node:fs").rmSync(${JSON.stringify(join(copy, "dist/host/thread/worker.js"))})`]);
  const command = join(copy, "dist/host/cli/main.js");
  const input = JSON.stringify({ action: "delete", name: "a" });
  const args = ["call", "UpdateUserMemory", "--data", join(copy, "data"), "--user", "alice", "--input", input];
  const { code, stdout, stderr } = await run([command, ...args]);
  expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 1, answer: { error: { code: "INTERNAL" } } });
  expect(stderr).toContain("Cannot start a thread");
});
