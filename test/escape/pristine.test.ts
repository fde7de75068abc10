/** A call finds nothing of another in a global, a variable, a prototype, freed memory, or an Extism block. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createPlugin } from "@extism/extism";
import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { writeGuest } from "../support/write-guest.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const scavenger = writeGuest(folder.path, "scavenger", { Scavenge: "scavenge" });
const echo = writeGuest(folder.path, "echo", { Echo: "echo", EchoAndFail: "echo_and_fail" });

test.for([
  { name: "the same user", second: "alice" },
  { name: "another user", second: "bob" },
])("a call of $name finds nothing of the call before it in the same thread", async ({ second }) => {
  const plugins = [testPlugin("puppet"), scavenger];
  await using runtime = await createRuntime({
    dataDir: join(folder.path, "data"),
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
  });
  const untouched = { moduleVariable: "nothing", global: "undefined", prototype: "undefined" };

  await runtime.call("Puppet", [{ plant: "secret of alice" }], { userId: "alice" });
  const found = await runtime.call("Puppet", [{ look: true }], { userId: second });
  expect(found).toMatchObject({ ok: true, data: [untouched] });

  await runtime.call("Scavenge", {}, { userId: "alice" });
  expect(await runtime.call("Scavenge", {}, { userId: second })).toMatchObject({ ok: true, data: 0 });
});

test("control: the same guests do find it when one instance serves two calls", async () => {
  const puppet = await openInstance(testPlugin("puppet"));
  await puppet.call("puppet", JSON.stringify([{ plant: "secret" }]));
  const found = await puppet.call("puppet", JSON.stringify([{ look: true }]));
  expect(found?.json()).toMatchObject({
    data: [{ moduleVariable: "secret", global: "secret", prototype: "secret" }],
  });

  const instance = await openInstance(scavenger);
  await instance.call("scavenge", "");
  expect((await instance.call("scavenge", ""))?.json()).toMatchObject({ data: 3 });
});

const refuse = (): bigint => 0n;

async function openInstance(file: string): ReturnType<typeof createPlugin> {
  const names = ["store_read", "store_list", "store_write", "store_trash", "clock_now"];
  const functions = { "extism:host/user": Object.fromEntries(names.map((name) => [name, refuse])) };
  return createPlugin({ wasm: [{ data: new Uint8Array(readFileSync(file)) }] }, { useWasi: false, functions });
}

test("a guest gets its input and not a byte more", async () => {
  const plugins = [echo];
  await using runtime = await createRuntime({
    dataDir: folder.path,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
  });
  for (const data of ["x", "日本語", "y".repeat(1000)]) {
    const envelope = { ok: true, message: "m", data };
    expect(await runtime.call("Echo", envelope, { userId: "alice" })).toEqual(envelope);
  }
});

test("control: the same guest gets more when the SDK receives a Buffer instead of a string", async () => {
  const instance = await openInstance(echo);
  const output = await instance.call("echo", Buffer.from("{}"));
  expect(output?.bytes().length).toBeGreaterThan(2);
});
