/** One instance and its blocks, without a pool. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { blockAccess } from "../../host/guest/block-access.ts";
import { instantiatePlugin } from "../../host/guest/extism-plugin.ts";
import type { GuestEnvironment } from "../../host/guest/extism-plugin.ts";
import { GuestLog } from "../../host/guest/guest-log.ts";
import { InstanceStock } from "../../host/guest/instance-stock.ts";
import { capabilityNames } from "../../shared/abi.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const module = await WebAssembly.compile(readFileSync(shippedPlugin("user-memory")));
const refusal = JSON.stringify({ ok: true, content: null });
const environment = {
  capabilities: Object.fromEntries(capabilityNames.map((name) => [name, () => refusal])),
  log: new GuestLog(),
} as unknown as GuestEnvironment;

test("an instance refuses a second call", async () => {
  const instance = await instantiatePlugin(module);
  expect(await instance.run("read_user_memory", '{"name":"a"}', environment)).toMatchObject({ kind: "error" });
  await expect(async () => instance.run("read_user_memory", '{"name":"a"}', environment)).rejects.toThrow("one call");
});

test("a stock hands out each instance once, filled or not", async () => {
  const stock = new InstanceStock();
  const first = await stock.take(module);
  stock.refillSoon(module);
  stock.refillSoon(module);
  await new Promise((resolve) => void setImmediate(resolve));
  const others = await Promise.all([stock.take(module), stock.take(module)]);
  expect(new Set([first, ...others]).size).toBe(3);
});

test("a word is read and written where its address says, and nowhere beyond its block", () => {
  const blocks = [new ArrayBuffer(1), new ArrayBuffer(16), new ArrayBuffer(24)];
  const context = { read: (address: bigint) => view(blocks[Number(address >> 48n)]) };
  const input = new DataView(new ArrayBuffer(8));
  input.setBigUint64(0, 7n, true);
  const { load_u64: load, store_u64: store, input_load_u64: loadInput } = blockAccess(() => input);

  store?.(context, at(1, 8), 0x8877665544332211n);
  store?.(context, at(2, 0), 5n);
  expect(load?.(context, at(1, 8), 0n)).toBe(0x8877665544332211n);
  expect(load?.(context, at(2, 0), 0n)).toBe(5n);
  expect(new Uint8Array(blocks[1] ?? [])[8]).toBe(0x11);
  expect(loadInput?.(context, at(0, 0), 0n)).toBe(7n);

  for (const wrong of [at(1, 9), at(1, 2 ** 32), at(7, 0), -1n]) {
    expect(() => load?.(context, wrong, 0n)).toThrow(RangeError);
  }
  expect(() => store?.(context, at(2, 17), 1n)).toThrow(RangeError);
  expect(store?.(context, at(7, 0), 1n)).toBeUndefined();
  expect(() => loadInput?.(context, at(0, 1), 0n)).toThrow(RangeError);
});

const view = (buffer: ArrayBuffer | undefined): DataView | null => (buffer ? new DataView(buffer) : null);

const at = (block: number, offset: number): bigint => (BigInt(block) << 48n) | BigInt(offset);
