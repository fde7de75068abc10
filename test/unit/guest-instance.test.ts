/** One instance and its blocks, without a pool. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { accessBlocks } from "../../host/guest/block-access.ts";
import { GuestInstance } from "../../host/guest/extism-plugin.ts";
import type { GuestEnvironment } from "../../host/guest/extism-plugin.ts";
import { compileGuest } from "../../host/guest/guest-module.ts";
import { InstanceStock } from "../../host/guest/instance-stock.ts";
import { GuestLog } from "../../host/guest/kernel-functions.ts";
import { capabilityNames } from "../../shared/abi.ts";
import { guestLimits } from "../../shared/limits.ts";
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

test("an instance refuses a second call until it is restored", async () => {
  const instance = await GuestInstance.create(guest, config);
  expect(await readA(instance)).toMatchObject({ kind: "error" });
  await expect(readA(instance)).rejects.toThrow("used");
  expect(await instance.restore()).toBe(true);
  expect(await readA(instance)).toMatchObject({ kind: "error" });
});

test("an instance that trapped cannot be restored", async () => {
  const instance = await GuestInstance.create(guest, config);
  expect(await instance.run("no_such_export", "{}", environment)).toMatchObject({ kind: "trap" });
  expect(await instance.restore()).toBe(false);
  await expect(readA(instance)).rejects.toThrow("broken");
});

test.for([
  { name: "restored", reuses: true, instancesCount: 1 },
  { name: "fresh", reuses: false, instancesCount: 3 },
])("a stock of $name instances serves three calls with $instancesCount", async ({ reuses, instancesCount }) => {
  const stock = new InstanceStock(config, reuses);
  const served = new Set<GuestInstance>();
  for (let call = 0; call < 3; call++) {
    const instance = await stock.take(guest);
    served.add(instance);
    await readA(instance);
    stock.refillSoon(guest, instance);
  }
  expect(served.size).toBe(instancesCount);
});

test("a stock gives each instance to one caller only", async () => {
  const stock = new InstanceStock(config, true);
  const first = await stock.take(guest);
  stock.refillSoon(guest, null);
  stock.refillSoon(guest, null);
  const others = await Promise.all([stock.take(guest), stock.take(guest)]);
  expect(new Set([first, ...others]).size).toBe(3);
});

test("reads and writes a word at its address, and refuses addresses beyond the block", () => {
  const blocks = [new ArrayBuffer(1), new ArrayBuffer(16), new ArrayBuffer(24)];
  const context = { read: (address: bigint) => view(blocks[Number(address >> 48n)]) };
  const input = new DataView(new ArrayBuffer(8));
  input.setBigUint64(0, 7n, true);
  const { load_u64: load, store_u64: store, input_load_u64: loadInput } = accessBlocks(() => input).functions;

  store(context, at(1, 8), 0x8877665544332211n);
  store(context, at(2, 0), 5n);
  expect(load(context, at(1, 8))).toBe(0x8877665544332211n);
  expect(load(context, at(2, 0))).toBe(5n);
  expect(new Uint8Array(blocks[1] ?? [])[8]).toBe(0x11);
  expect(loadInput(context, at(0, 0))).toBe(7n);

  for (const wrong of [at(1, 9), at(1, 2 ** 32), at(7, 0), -1n]) {
    expect(() => load(context, wrong)).toThrow(RangeError);
  }
  expect(() => store(context, at(2, 17), 1n)).toThrow(RangeError);
  expect(store(context, at(7, 0), 1n)).toBeUndefined();
  expect(() => loadInput(context, at(0, 1))).toThrow(RangeError);
});

const view = (buffer: ArrayBuffer | undefined): { arrayBuffer(): ArrayBuffer } | null =>
  buffer ? { arrayBuffer: () => buffer } : null;

const at = (block: number, offset: number): bigint => (BigInt(block) << 48n) | BigInt(offset);
