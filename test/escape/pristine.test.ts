/** No call sees another: not through a global, a variable, a prototype, freed memory, or an Extism block. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createPlugin } from "@extism/extism";
import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const scavenger = join(folder.path, "scavenger.wasm");
const text = readFileSync(new URL("../guests/scavenger.wat", import.meta.url), "utf8");
writeFileSync(scavenger, assembleGuest(text, [JSON.stringify(guestManifest("scavenger", "Scavenge", "scavenge"))]));

test.for([
  { name: "the same user", second: "alice" },
  { name: "another user", second: "bob" },
])("a call of $name finds nothing of the call before it in the same thread", async ({ second }) => {
  await using runtime = await createRuntime({
    dataDir: join(folder.path, "data"),
    plugins: [testPlugin("puppet"), scavenger],
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

test("a secret in Node's Buffer pool does not reach the guest with the input", async () => {
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [testPlugin("puppet")], threadsMax: 1 });
  const secret = Buffer.from("pool secret 4711");
  const input = [{ request: '{"scope":"memory","path":"a.md"}', of: "store_read" }];
  const result = await runtime.call("Puppet", input, { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: ['{"ok":true,"content":null}'] });
  expect(JSON.stringify(result)).not.toContain(secret.toString());
});
