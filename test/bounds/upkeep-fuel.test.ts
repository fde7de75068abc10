/** In upkeep each file that a guest reads gives it fuel, and it has a longer time, but not for ever. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { GuestFuel } from "../../host/guest/extism-plugin.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const entry = `---\ndescription: d\ntype: user\nkeys: [${"a, ".repeat(1_000)}a]\n---\nBody`;

test("the doctor reads more entries than one call has fuel for, and a program's own call does not", async () => {
  using folder = temporaryFolder();
  const entries = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`memory/e${at}.md`, entry]));
  writeUserFiles(folder.path, { alice: entries });
  const plugins = ["user-memory"];
  await using runtime = await createRuntime({ dataDir: folder.path, plugins, threadsMax: 1, fuelPolls: 300 });
  const findings = await runtime.upkeep.inspect(alice);
  expect(findings).toMatchObject([{ problem: "index-missing" }]);
  expect(await runtime.callAsHost("InspectMemory", { mend: false }, alice)).toMatchObject({
    error: { code: "FUEL_EXHAUSTED" },
  });
});

test("one file that takes a whole call's fuel ends the call", async () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/e.md": entry } });
  const plugins = ["user-memory"];
  await using runtime = await createRuntime({ dataDir: folder.path, plugins, threadsMax: 1, fuelPolls: 2 });
  expect(await runtime.upkeep.inspect(alice)).toMatchObject([
    { problem: "not-inspected", message: expect.stringContaining("computing budget") },
  ]);
});

test("an inspecting guest that never ends is stopped after six deadlines", async () => {
  using folder = temporaryFolder();
  const script = { role: "inspect", isEndless: true, answer: null } as const;
  const plugins = [writeScriptedPlugin(folder.path, "endless", { Look: script })];
  const options = { dataDir: join(folder.path, "data"), plugins, policy: policyFor(plugins), threadsMax: 1 };
  await using runtime = await createRuntime({ ...options, deadlineMs: 50 });
  writeUserFiles(options.dataDir, { alice: { "notes/a.md": "a" } });
  const told = expect.stringContaining("it ran for over 300 ms");
  expect(await runtime.upkeep.inspect(alice)).toMatchObject([{ problem: "not-inspected", message: told }]);
});

test("fuel that is used up, or taken, is not given again", () => {
  const left = new WebAssembly.Global({ value: "i32", mutable: true }, 10);
  const fuel = new GuestFuel(left, 10);
  fuel.beginCall();
  left.value = 4;
  fuel.refill();
  expect([left.value, fuel.pollsUsed]).toEqual([10, 6]);
  left.value = 9;
  expect(fuel.pollsUsed).toBe(7);
  fuel.take();
  fuel.refill();
  expect(left.value).toBe(0);
  const none = new GuestFuel(undefined, 10);
  none.refill();
  expect([none.isCounted, none.pollsUsed]).toEqual([false, null]);
});
