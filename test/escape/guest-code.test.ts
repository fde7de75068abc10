/** Guests that fail, lie or never end: each is one coded error, and the next call is served. */
import { createRuntime } from "memcell";
import type { LogEntry, Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { writeGuest } from "../support/write-guest.ts";

const folder = temporaryFolder();
const echo = writeGuest(folder.path, "echo", { Echo: "echo", EchoAndFail: "echo_and_fail" });
const hoarder = writeGuest(folder.path, "hoarder", { Hoard: "hoard", HoardBehindCatch: "hoard_behind_catch" });
const dataDir = `${folder.path}/data`;
const log: LogEntry[] = [];
let runtime: Runtime;
beforeAll(async () => {
  const plugins = [testPlugin("puppet"), echo, hoarder];
  runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    // A regular expression polls every 0.4 ms: with more fuel, a busy machine would reach the deadline first.
    fuelPolls: 5_000,
    onLog: (entry) => log.push(entry),
  });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const write = { of: "store_write", request: JSON.stringify({ scope: "memory", path: "a.md", content: "x" }) };
const failed = (code: string): string => JSON.stringify({ ok: false, error: { code, message: "m" } });

/** A success whose data is this many nested arrays. */
const nested = (levels: number): string => `{"ok":true,"message":"","data":${"[".repeat(levels)}${"]".repeat(levels)}}`;

test.for([
  { name: "spins", steps: [{ spin: true }], code: "FUEL_EXHAUSTED" },
  { name: "spins in a regular expression", steps: [{ backtrack: true }], code: "FUEL_EXHAUSTED" },
  { name: "catches the end of a loop and loops again", steps: [{ spinBehind: "catch" }], code: "FUEL_EXHAUSTED" },
  { name: "swallows the error that ends a loop", steps: [{ spinBehind: "finally" }], code: "FUEL_EXHAUSTED" },
  { name: "spins in an asynchronous function", steps: [{ spinBehind: "promise" }], code: "FUEL_EXHAUSTED" },
  { name: "spins while an iterator is closed", steps: [{ spinBehind: "iterator" }], code: "FUEL_EXHAUSTED" },
  { name: "recurses", steps: [{ recurse: true }], code: "GUEST_TRAPPED" },
  { name: "allocates without end", steps: [{ allocate: true }], code: "MEMORY_EXCEEDED" },
  { name: "allocates again after a catch", steps: [{ allocateBehind: "catch" }], code: "MEMORY_EXCEEDED" },
  { name: "wraps the lack of memory in another error", steps: [{ allocateBehind: "cause" }], code: "MEMORY_EXCEEDED" },
  { name: "throws text", steps: [{ fail: "just text" }], code: "GUEST_TRAPPED" },
  { name: "throws nothing", steps: [{ fail: "" }], code: "GUEST_TRAPPED" },
  { name: "answers with text", steps: [{ output: "text" }], code: "OUTPUT_INVALID" },
  { name: "answers with nothing", steps: [{ output: "" }], code: "OUTPUT_INVALID" },
  { name: "answers with a failure as output", steps: [{ output: failed("ENTRY_NOT_FOUND") }], code: "OUTPUT_INVALID" },
  {
    name: "answers with surplus fields",
    steps: [{ output: '{"ok":true,"message":"","data":1,"x":1}' }],
    code: "OUTPUT_INVALID",
  },
  { name: "answers with too much", steps: [{ outputLarge: 600_000 }], code: "OUTPUT_TOO_LARGE" },
  { name: "answers with 65 nested arrays", steps: [{ output: nested(64) }], code: "OUTPUT_INVALID" },
  { name: "answers with 10,000 nested arrays", steps: [{ output: nested(10_000) }], code: "OUTPUT_INVALID" },
  { name: "claims that the runtime is busy", steps: [{ fail: failed("BUSY") }], code: "OUTPUT_INVALID" },
  { name: "claims that the user is missing", steps: [{ fail: failed("USER_REQUIRED") }], code: "OUTPUT_INVALID" },
  { name: "fails with a success", steps: [{ fail: '{"ok":true,"message":"","data":1}' }], code: "OUTPUT_INVALID" },
  { name: "fails with a code of its own", steps: [{ fail: failed("NO_SUCH_CODE") }], code: "OUTPUT_INVALID" },
  {
    name: "blames the host for an error that never happened",
    steps: [{ fail: failed("STORAGE_FULL") }],
    code: "OUTPUT_INVALID",
  },
  { name: "reports a failure of its own", steps: [{ fail: failed("NAME_CONFLICT") }], code: "NAME_CONFLICT" },
])("a guest that $name is $code and writes nothing", async ({ steps, code }) => {
  const result = await runtime.call("Puppet", [write, ...steps], { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { code } });
  expect(userFolderNames(dataDir)).toEqual([]);
  expect(await runtime.call("Puppet", [], { userId: "bob" })).toMatchObject({ ok: true });
});

test("an answer with 63 nested arrays is passed on", async () => {
  const result = await runtime.call("Puppet", [{ output: nested(63) }], { userId: "alice" });
  expect(result).toMatchObject({ ok: true });
});

test("a guest that returns a code other than 0 has failed, whatever its answer", async () => {
  const envelope = { ok: true, message: "m", data: 1 };
  expect(await runtime.call("Echo", envelope, { userId: "alice" })).toMatchObject({ ok: true });
  const result = await runtime.call("EchoAndFail", envelope, { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { code: "GUEST_TRAPPED" } });
});

test.for(["Hoard", "HoardBehindCatch"])(
  "a guest that fills the host with blocks, %s, is MEMORY_EXCEEDED",
  async (tool) => {
    const result = await runtime.call(tool, {}, { userId: "alice" });
    expect(result).toMatchObject({ ok: false, error: { code: "MEMORY_EXCEEDED" } });
    expect(await runtime.call("Puppet", [], { userId: "bob" })).toMatchObject({ ok: true });
  },
);

test("a guest's log lines reach the operator, within bounds", async () => {
  log.length = 0;
  const steps = [
    { log: "hello", times: 1 },
    { log: "y".repeat(5000), times: 300 },
  ];
  await runtime.call("Puppet", steps, { userId: "alice", callId: "c" });
  expect(log).toHaveLength(201);
  expect(log[0]).toEqual({ level: "info", tool: "Puppet", userId: "alice", callId: "c", text: "hello" });
  expect(log[1]?.text).toBe("y".repeat(2000));

  expect(log.at(-1)?.text).toBe("101 further lines not shown");
});
