/** No JavaScript state survives a call: a script leaves marks, and the next call finds none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createPlugin } from "@extism/extism";
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { ask, memory } from "./puppet-stage.ts";

const folder = temporaryFolder();
const look = [{ look: true }];
const plant = { plant: "secret of alice" };
const failure = JSON.stringify({ ok: false, error: { code: "NAME_CONFLICT", message: "m" } });

let runtime: Runtime;
beforeAll(async () => {
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
  { name: "answers with too much", steps: [{ outputLarge: 600_000 }], code: "OUTPUT_TOO_LARGE" },
  { name: "throws", steps: [{ fail: "text" }], code: "GUEST_TRAPPED" },
  { name: "fails", steps: [{ fail: failure }], code: "NAME_CONFLICT" },
  { name: "is denied", steps: [ask("store_read", { scope: "other", path: "a.md" })], code: "CAPABILITY_DENIED" },
  { name: "is denied and continues", steps: [ask("store_read", memory("../a")), plant], code: "CAPABILITY_DENIED" },
  { name: "recurses", steps: [{ recurse: true }], code: "GUEST_TRAPPED" },
  { name: "takes all memory", steps: [{ allocate: true }], code: /GUEST_TRAPPED|MEMORY_EXCEEDED/ },
  { name: "uses up its fuel", steps: [{ spin: true }], code: "FUEL_EXHAUSTED" },
])("a script that $name leaves nothing behind", async ({ steps, code }) => {
  await using fresh = await open();
  const untouched = await fresh.call("Puppet", look, { userId: "carol" });
  expect(untouched).toMatchObject({ ok: true, data: [{ moduleVariable: "nothing", generator: 0, extensible: true }] });

  for (const userId of ["bob", "alice", "bob"]) {
    const ended = await runtime.call("Puppet", [plant, ...steps], { userId: "alice" });
    expect(ended.ok ? "ok" : ended.error.code).toMatch(code);
    for (let again = 0; again < 2; again++) {
      expect(await runtime.call("Puppet", look, { userId })).toEqual(untouched);
    }
  }
});

test("control: the same script finds every mark when one instance serves two calls", async () => {
  const names = ["store_read", "store_list", "store_write", "store_trash", "clock_now"];
  const functions = { "extism:host/user": Object.fromEntries(names.map((name) => [name, () => 0n])) };
  const data = new Uint8Array(readFileSync(testPlugin("puppet")));
  const play = async (steps: unknown, instance = createPlugin({ wasm: [{ data }] }, { useWasi: false, functions })) =>
    (await (await instance).call("puppet", JSON.stringify(steps)))?.json().data.at(-1);

  const untouched = await play(look);
  const kept = createPlugin({ wasm: [{ data }] }, { useWasi: false, functions });
  await play([plant], kept);
  const found = await play(look, kept);
  const missed = Object.keys(untouched).filter((name) => untouched[name] === found[name]);
  // The engine keeps no last match and runs no job after a call.
  expect(missed).toEqual(["late", "lastMatch"]);
});

function open(): Promise<Runtime> {
  const plugins = [testPlugin("puppet")];
  const dataDir = join(folder.path, "data");
  return createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
}
