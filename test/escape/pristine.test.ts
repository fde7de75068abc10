/** A call finds nothing of another in a global, a variable, a prototype, freed memory, or an Extism block. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createPlugin } from "@extism/extism";
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { writeGuest } from "../support/write-guest.ts";
import { ask, memory } from "./puppet-stage.ts";

const folder = temporaryFolder();
const scavenger = writeGuest(folder.path, "scavenger", { Scavenge: "scavenge" });
const echo = writeGuest(folder.path, "echo", { Echo: "echo", EchoAndFail: "echo_and_fail" });
const plugins = [testPlugin("puppet"), scavenger, echo];
const open = (): Promise<Runtime> =>
  createRuntime({
    dataDir: join(folder.path, "data"),
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    fuelPolls: 2_000,
  });

const look = [{ look: true }];
const plant = { plant: "secret of alice" };
const failure = JSON.stringify({ ok: false, error: { code: "NAME_CONFLICT", message: "m" } });

let runtime: Runtime;
/** What a script finds in a runtime that has served nobody. */
let untouched: unknown;
beforeAll(async () => {
  await using fresh = await open();
  untouched = await fresh.call("Puppet", look, { userId: "carol" });
  const data = [{ moduleVariable: "nothing", global: "undefined", prototype: "undefined", generator: 0 }];
  expect(untouched).toMatchObject({ ok: true, data });
  runtime = await open();
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

test.for([
  { name: "answers", steps: [], code: "ok" },
  { name: "writes and answers", steps: [ask("store_write", memory("a.md", "x"))], code: "ok" },
  { name: "answers with text", steps: [{ output: "text" }], code: "OUTPUT_INVALID" },
  { name: "throws", steps: [{ fail: "text" }], code: "GUEST_TRAPPED" },
  { name: "fails", steps: [{ fail: failure }], code: "NAME_CONFLICT" },
  { name: "is denied and continues", steps: [ask("store_read", memory("../a")), plant], code: "CAPABILITY_DENIED" },
  { name: "recurses", steps: [{ recurse: true }], code: "GUEST_TRAPPED" },
  { name: "takes all memory", steps: [{ allocate: true }], code: /GUEST_TRAPPED|MEMORY_EXCEEDED/ },
  { name: "uses up its fuel", steps: [{ spin: true }], code: "FUEL_EXHAUSTED" },
])("a script that $name leaves nothing behind for its own user or another", async ({ steps, code }) => {
  for (const userId of ["bob", "alice"]) {
    const ended = await runtime.call("Puppet", [plant, ...steps], { userId: "alice" });
    expect(ended.ok ? "ok" : ended.error.code).toMatch(code);
    for (let again = 0; again < 2; again++) {
      expect(await runtime.call("Puppet", look, { userId })).toEqual(untouched);
    }
  }
});

test("a guest finds nothing in memory that another call has freed", async () => {
  for (const userId of ["alice", "alice", "bob"]) {
    expect(await runtime.call("Scavenge", {}, { userId })).toMatchObject({ ok: true, data: 0 });
  }
});

test("a guest gets its input and not a byte more", async () => {
  for (const data of ["x", "日本語", "y".repeat(1000)]) {
    const envelope = { ok: true, message: "m", data };
    expect(await runtime.call("Echo", envelope, { userId: "alice" })).toEqual(envelope);
  }
});

async function openInstance(file: string): ReturnType<typeof createPlugin> {
  const names = ["store_read", "store_list", "store_write", "store_trash", "clock_now"];
  const functions = { "extism:host/user": Object.fromEntries(names.map((name) => [name, () => 0n])) };
  return createPlugin({ wasm: [{ data: new Uint8Array(readFileSync(file)) }] }, { useWasi: false, functions });
}

test("control: the same guests find every mark when one instance serves two calls, and more than their input", async () => {
  const play = async (steps: unknown, instance = openInstance(testPlugin("puppet"))) =>
    (await (await instance).call("puppet", JSON.stringify(steps)))?.json().data.at(-1);
  const fresh = await play(look);
  const kept = openInstance(testPlugin("puppet"));
  await play([plant], kept);
  const found = await play(look, kept);
  // The engine keeps no last match and runs no job after a call.
  expect(Object.keys(fresh).filter((name) => fresh[name] === found[name])).toEqual(["late", "lastMatch"]);

  const scavenging = await openInstance(scavenger);
  await scavenging.call("scavenge", "");
  expect((await scavenging.call("scavenge", ""))?.json()).toMatchObject({ data: 3 });
  // The SDK receives a Buffer instead of a string.
  const echoing = await openInstance(echo);
  expect((await echoing.call("echo", Buffer.from("{}")))?.bytes().length).toBeGreaterThan(2);
});
