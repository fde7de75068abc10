/** One instance and its blocks, without a pool: what no guest can be made to show of itself. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { GuestInstance } from "../../host/guest/extism-plugin.ts";
import type { GuestEnvironment } from "../../host/guest/extism-plugin.ts";
import { compileGuest } from "../../host/guest/guest-module.ts";
import { GuestLog } from "../../host/guest/host-functions.ts";
import { capabilityNames } from "../../shared/abi.ts";
import { guestLimits } from "../../shared/limits.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const guest = await compileGuest(readFileSync(shippedPlugin("user-memory")), {
  memoryPagesMax: guestLimits.memoryPagesMax,
  fuelPollsMax: guestLimits.fuelPollsMax,
});
const config = Object.create(null) as Record<string, string>;
const refusal = JSON.stringify({ ok: true, content: null });
const environment = {
  capabilities: Object.fromEntries(capabilityNames.map((name) => [name, () => refusal])),
  log: new GuestLog(),
} as unknown as GuestEnvironment;

const readA = (instance: GuestInstance): ReturnType<GuestInstance["run"]> =>
  instance.run("read_user_memory", '{"name":"a"}', environment);

test("an instance that trapped cannot be restored", async () => {
  const instance = await GuestInstance.create(guest, config);
  expect(await instance.run("no_such_export", "{}", environment)).toMatchObject({ kind: "trap" });
  expect(await instance.restore()).toBe(false);
  await expect(readA(instance)).rejects.toThrow("broken");
});

const word = (text: string): string => `(i64.const ${Buffer.from(text).readBigUInt64LE()})`;
const write = (text: string): string => `(call $store (local.get $block) ${word(text)})`;
const writer = `(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
  (import "extism:host/env" "log_info" (func $log (param i64)))
  (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error (param i64)))
  (import "extism:host/user" "store_read" (func $read (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (func (export "answer") (result i32) (local $block i64)
    (local.set $block (call $alloc (i64.const 8)))
    ${write("nothing!")} ${write("a line..")} (call $log (local.get $block))
    ${write("the key.")} (if (i64.eqz (call $config (local.get $block))) (then (unreachable)))
    ${write("request.")} (drop (call $read (local.get $block)))
    ${write("the end.")} (call $output (local.get $block) (i64.const 8))
    ${write("an end..")}
    (i32.const 0))
  (func (export "fail") (result i32) (local $block i64)
    (local.set $block (call $alloc (i64.const 8)))
    ${write("nothing!")} (call $error (local.get $block)) ${write("failure.")}
    (i32.const 1)))`;

test("who looks at a block sees what the guest has written last", async () => {
  const limits = { memoryPagesMax: 4, fuelPollsMax: 1 };
  const module = await compileGuest(assembleGuest(writer, []), limits);
  const asked: string[] = [];
  const log = new GuestLog();
  const capabilities = { ...environment.capabilities, store_read: (text: string) => `${asked.push(text)}` };
  const settings = Object.assign(Object.create(null), { "the key.": "yes" }) as typeof config;
  const instance = await GuestInstance.create(module, settings);
  const answered = await instance.run("answer", "{}", { ...environment, capabilities, log });
  expect(answered).toEqual({ kind: "output", text: "an end..", bytes: 8 });
  expect(log.lines).toEqual([{ level: "info", text: "a line.." }]);
  expect(asked).toEqual(["request."]);
  const other = await GuestInstance.create(module, settings);
  expect(await other.run("fail", "{}", environment)).toEqual({ kind: "error", text: "failure." });
});
