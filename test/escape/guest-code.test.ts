/** Guests that fail, crash, lie or never end: each is one coded error, and the next call is served. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { traps } from "../guests/traps.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";
import type { GuestStage } from "./guest-stage.ts";
import { ask, memory } from "./puppet-stage.ts";

const recursions = { Recurse: "recurse", RecurseWide: "recurse_wide", RecurseIndirect: "recurse_indirect" };
const growths = { GrowAndTrap: "grow_and_trap", GrowAndAnswer: "grow_and_answer" };
const hoards = { Hoard: "hoard", HoardBehindCatch: "hoard_behind_catch" };

const guests = (folder: string): string[] => [
  testPlugin("puppet"),
  writeGuest(folder, "echo", { Echo: "echo", EchoAndFail: "echo_and_fail" }),
  writeGuest(folder, "hoarder", hoards),
  writeGuest(folder, "trapper", traps),
  writeGuest(folder, "recurser", recursions),
  writeGuest(folder, "grower", growths),
];

let stage: GuestStage;
beforeAll(async () => {
  // A regular expression polls every 0.4 ms: with more fuel, a busy machine would reach the deadline first. An upsert of
  // the well-behaved plugin takes less than a tenth of this.
  stage = await openGuestStage(guests, { fuelPolls: 300 });
});
afterAll(() => stage[Symbol.asyncDispose]());

const write = ask("store_write", memory("a.md", "x"));
const failed = (code: string): string => JSON.stringify({ ok: false, error: { code, message: "m" } });
const surplus = '{"ok":true,"message":"","data":1,"x":1}';

/** A success whose data is this many nested arrays. */
const nested = (levels: number): string => `{"ok":true,"message":"","data":${"[".repeat(levels)}${"]".repeat(levels)}}`;

test.for<readonly [what: string, step: object, code: string]>([
  ["spins", { spin: true }, "FUEL_EXHAUSTED"],
  ["spins in a regular expression", { backtrack: true }, "FUEL_EXHAUSTED"],
  ["catches the end of a loop and loops again", { spinBehind: "catch" }, "FUEL_EXHAUSTED"],
  ["swallows the error that ends a loop", { spinBehind: "finally" }, "FUEL_EXHAUSTED"],
  ["spins in an asynchronous function", { spinBehind: "promise" }, "FUEL_EXHAUSTED"],
  ["spins while an iterator is closed", { spinBehind: "iterator" }, "FUEL_EXHAUSTED"],
  ["recurses", { recurse: true }, "GUEST_TRAPPED"],
  ["allocates without end", { allocate: true }, "MEMORY_EXCEEDED"],
  ["allocates again after a catch", { allocateBehind: "catch" }, "MEMORY_EXCEEDED"],
  ["wraps the lack of memory in another error", { allocateBehind: "cause" }, "MEMORY_EXCEEDED"],
  ["throws text", { fail: "just text" }, "GUEST_TRAPPED"],
  ["throws nothing", { fail: "" }, "GUEST_TRAPPED"],
  ["answers with text", { output: "text" }, "OUTPUT_INVALID"],
  ["answers with nothing", { output: "" }, "OUTPUT_INVALID"],
  ["answers with a failure as output", { output: failed("ENTRY_NOT_FOUND") }, "OUTPUT_INVALID"],
  ["answers with surplus fields", { output: surplus }, "OUTPUT_INVALID"],
  ["answers with too much", { outputLarge: 600_000 }, "OUTPUT_TOO_LARGE"],
  ["answers with 65 nested arrays", { output: nested(64) }, "OUTPUT_INVALID"],
  ["answers with 10,000 nested arrays", { output: nested(10_000) }, "OUTPUT_INVALID"],
  ["claims that the runtime is busy", { fail: failed("BUSY") }, "OUTPUT_INVALID"],
  ["claims that the user is missing", { fail: failed("USER_REQUIRED") }, "OUTPUT_INVALID"],
  ["fails with a success", { fail: '{"ok":true,"message":"","data":1}' }, "OUTPUT_INVALID"],
  ["fails with a code of its own", { fail: failed("NO_SUCH_CODE") }, "OUTPUT_INVALID"],
  ["blames the host for an error that never happened", { fail: failed("STORAGE_FULL") }, "OUTPUT_INVALID"],
  ["reports a failure of its own", { fail: failed("NAME_CONFLICT") }, "NAME_CONFLICT"],
])("a guest that %s is %s and writes nothing", async ([, step, code]) => {
  expect(await stage.misbehave("Puppet", [write, step])).toMatchObject({ ok: false, error: { code } });
  expect(userFolderNames(stage.dataDir)).not.toContain("alice");
  await stage.expectHarmless();
});

const crashing = { ...traps, ...recursions };
test.for<readonly [tool: string, code: string]>([
  ...Object.keys(crashing).map((tool) => [tool, "GUEST_TRAPPED"] as const),
  ["GrowAndTrap", "MEMORY_EXCEEDED"],
  // They fill the host with blocks.
  ...Object.keys(hoards).map((tool) => [tool, "MEMORY_EXCEEDED"] as const),
])("a guest that does %s is %s, and the log has no path of the host", async ([tool, code]) => {
  for (let again = 0; again < 2; again++) {
    expect(await stage.misbehave(tool)).toMatchObject({ ok: false, error: { code, blame: "guest" } });
    await stage.expectHarmless();
  }
  for (const { text } of stage.log) expect(text).not.toContain(stage.dataDir);
});

test("controls: 63 nested arrays are passed on, and a guest that takes all its allowed memory and answers succeeds", async () => {
  expect(await stage.misbehave("Puppet", [{ output: nested(63) }])).toMatchObject({ ok: true });
  for (let again = 0; again < 3; again++) {
    expect(await stage.misbehave("GrowAndAnswer")).toMatchObject({ ok: true, data: 4 });
  }
});

test("a guest that returns a code other than 0 has failed, whatever its answer", async () => {
  const envelope = { ok: true, message: "m", data: 1 };
  expect(await stage.misbehave("Echo", envelope)).toMatchObject({ ok: true });
  expect(await stage.misbehave("EchoAndFail", envelope)).toMatchObject({ ok: false, error: { code: "GUEST_TRAPPED" } });
});

test("a guest's log lines reach the operator, within bounds", async () => {
  const steps = [
    { log: "hello", times: 1 },
    { log: "y".repeat(5000), times: 300 },
  ];
  await stage.runtime.call("Puppet", steps, { userId: "alice", callId: "c" });
  const lines = stage.log.filter(({ callId }) => callId === "c");
  expect(lines).toHaveLength(201);
  expect(lines[0]).toEqual({ level: "info", tool: "Puppet", userId: "alice", callId: "c", text: "hello" });
  expect(lines[1]?.text).toBe("y".repeat(2000));
  expect(lines.at(-1)?.text).toBe("101 further lines not shown");
});

describe("a guest that never answers and never polls for fuel", () => {
  const loops = { Loop: "loop", LoopInHost: "loop_in_host", LoopInEngine: "loop_in_engine" };
  let looping: GuestStage;
  beforeAll(async () => {
    // Enough time for Bob's call on a busy machine.
    looping = await openGuestStage((folder) => [writeGuest(folder, "looper", loops)], { deadlineMs: 1_000 });
  });
  afterAll(() => looping[Symbol.asyncDispose]());

  test.for(Object.keys(loops))("by %s: its thread is stopped, and another one serves the next call", async (tool) => {
    const error = { code: "DEADLINE_EXCEEDED", blame: "guest", retryable: true };
    expect(await looping.misbehave(tool)).toMatchObject({ ok: false, error });
    await looping.expectHarmless();
  });
});
