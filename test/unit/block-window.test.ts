/** What a guest reads and writes in blocks, through the window and beside it. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { BlockAccess, blockWindowModule, windowBytes } from "../../host/guest/block-access.ts";
import type { CopyFunctions } from "../../host/guest/block-access.ts";
import { assembleGuest } from "../support/assemble-guest.ts";

test("the module is that of the source", () => {
  const source = new URL("host/guest/block-window.wat", import.meta.resolve("memcell/package.json"));
  const assembled = Buffer.from(assembleGuest(readFileSync(source, "utf8"), [])).toString("base64");
  expect(blockWindowModule).toBe(assembled);
});

const at = (block: number, offset: number): bigint => (BigInt(block) << 48n) | BigInt(offset);

interface Stage {
  readonly access: BlockAccess;
  readonly blocks: readonly ArrayBuffer[];
  readonly copy: CopyFunctions;
}

type Bindable = (context: unknown, ...rest: unknown[]) => unknown;

/** Block 0 is the SDK's. */
function stageOf(...sizes: number[]): Stage {
  const blocks = [1, ...sizes].map((bytes) => new ArrayBuffer(bytes));
  const access = new BlockAccess();
  const context = {
    read: (address: bigint) => {
      const buffer = blocks[Number(BigInt.asUintN(16, address >> 48n))];
      return buffer ? { arrayBuffer: () => buffer } : null;
    },
  };
  const bound = Object.entries(access.functions).map(([name, each]) => [
    name,
    (each as Bindable).bind(null, context as never),
  ]);
  return { access, blocks, copy: Object.fromEntries(bound) as CopyFunctions };
}

test("refuses addresses beyond the block and the input, and a write to no block is nothing", () => {
  const { access, copy } = stageOf(16, 24);
  access.begin(Uint8Array.of(7, 0, 0, 0, 0, 0, 0, 0));
  for (const wrong of [at(0, 0), at(1, 9), at(1, 2 ** 32), at(1, 2 ** 48 - 1), at(7, 0), -1n, -8n])
    expect(() => copy.load_u64(wrong)).toThrow(RangeError);
  expect(() => copy.store_u64(at(2, 17), 1n)).toThrow(RangeError);
  for (const nowhere of [at(7, 0), at(0, 0)]) expect(copy.store_u64(nowhere, 1n)).toBeUndefined();
  expect(copy.input_load_u64(0n)).toBe(7n);
  for (const wrong of [1n, 8n, 2n ** 47n, -8n]) expect(() => copy.input_load_u64(wrong)).toThrow(RangeError);
  expect(() => copy.input_load_u8(8n)).toThrow(RangeError);
});

test("a block and an input that are too large for the window are accessed themselves", () => {
  const { access, blocks, copy } = stageOf(windowBytes, windowBytes + 1, 8);
  const input = new Uint8Array(windowBytes + 1).fill(9);
  access.begin(input);
  for (const [block, bytes] of [windowBytes, windowBytes + 1].entries()) {
    copy.store_u8(at(block + 1, bytes - 1), 3);
    copy.store_u8(at(3, 0), 4);
    expect(copy.load_u8(at(block + 1, bytes - 1))).toBe(3);
  }
  access.settle();
  expect(blocks.slice(1).map((each) => new Uint8Array(each).at(-1))).toEqual([3, 3, 0]);
  expect(copy.input_load_u8(BigInt(windowBytes))).toBe(9);
  expect(() => copy.input_load_u64(BigInt(windowBytes))).toThrow(RangeError);
});

test("nothing of an ended call is left, in the window either", () => {
  const { access, blocks, copy } = stageOf(16);
  access.begin(Buffer.from("a secret of eight"));
  copy.store_u64(at(1, 0), 1n);
  copy.store_u64(at(1, 8), 0x8877665544332211n);
  const { memory } = access.window;
  expect(memory.some((byte) => byte !== 0)).toBe(true);
  access.end();
  expect(memory.some((byte) => byte !== 0)).toBe(false);
  expect(new Uint8Array(blocks[1] ?? [])[8]).toBe(0x11);
  expect(access.inputBytes).toBe(0);
  expect(() => copy.input_load_u8(0n)).toThrow(RangeError);
  new Uint8Array(blocks[1] ?? [])[0] = 2;
  expect(copy.load_u64(at(1, 0))).toBe(2n);
  access.begin(Buffer.from("b"));
  expect(() => copy.input_load_u8(1n)).toThrow(RangeError);
});

test("a block that was freed while the window showed it is not there any more", () => {
  const { access, blocks, copy } = stageOf(16);
  copy.store_u64(at(1, 0), 1n);
  copy.store_u64(at(1, 0), 2n);
  access.forget();
  const [, freed] = blocks;
  if (freed) structuredClone(freed, { transfer: [freed] });
  expect(() => copy.load_u64(at(1, 0))).toThrow();
  expect(() => copy.store_u64(at(1, 0), 3n)).toThrow();
});
