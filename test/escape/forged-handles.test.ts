/**
 * Guests that forge handles. A handle names a block of the same call or nothing. For a forged handle a guest gets a
 * coded error or zeros, never a byte of another call, and the worker thread survives.
 */
import { afterAll, beforeAll, expect, test } from "vitest";

import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";
import type { GuestStage } from "./guest-stage.ts";

let stage: GuestStage;
beforeAll(async () => {
  stage = await openGuestStage((folder) => [
    writeGuest(folder, "forger", { Forge: "forge" }, { Forge: ["read", "list", "write", "trash", "clock"] }),
  ]);
});
afterAll(() => stage[Symbol.asyncDispose]());

const block = (number: number, offset = 0): bigint => (BigInt(number) << 48n) + BigInt(offset);
const secret = "secret of bob";

const handles = [
  { name: "nothing", base: "a", value: 0n },
  { name: "a small number", base: "a", value: 1n },
  { name: "the end of the first block", base: "a", value: block(1) - 1n },
  ...[2, 3, 4, 5, 8, 16, 100, 1_000, 32_767].map((number) => ({
    name: `the block with number ${number}`,
    base: "a",
    value: block(number),
  })),
  { name: "the block of the input, far beyond its end", base: "a", value: block(1, 2 ** 32) },
  { name: "the least negative number", base: "a", value: -1n },
  { name: "minus one block", base: "a", value: -block(1) },
  { name: "2^63 - 1", base: "a", value: 2n ** 63n - 1n },
  { name: "2^63", base: "a", value: -(2n ** 63n) },
  { name: "a block's inside", base: "b", value: 3n },
  { name: "a block's last byte", base: "b", value: 15n },
  { name: "a block's end", base: "b", value: 16n },
  { name: "before a block", base: "b", value: -1n },
  { name: "the block after a block", base: "b", value: block(1) },
  { name: "the inside of the block after a block", base: "b", value: block(1, 5) },
  { name: "a freed block", base: "f", value: 0n },
  { name: "a freed block's inside", base: "f", value: 8n },
  { name: "the block before a freed block", base: "f", value: -block(1) },
  { name: "the end of a reply", base: "r", value: 100n },
];

/** The guest's letter for each function, and how a call that passes it a forged handle can end. */
const uses = [
  { name: "load_u8", letter: "b", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "load_u64", letter: "c", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "store_u8", letter: "d", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "store_u64", letter: "e", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "output_set", letter: "f", codes: ["GUEST_TRAPPED", "OUTPUT_INVALID"] },
  { name: "error_set", letter: "g", codes: ["GUEST_TRAPPED", "OUTPUT_INVALID"] },
  // Freeing the highest block number uses it up: the guest gets no further block.
  { name: "free", letter: "h", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "length", letter: "i", codes: ["ok"] },
  { name: "input_load_u8", letter: "j", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "input_load_u64", letter: "k", codes: ["ok", "GUEST_TRAPPED"] },
  { name: "config_get", letter: "l", codes: ["ok"] },
  { name: "log_info", letter: "m", codes: ["ok"] },
  { name: "log_error", letter: "n", codes: ["ok"] },
  { name: "store_read", letter: "o", codes: ["CAPABILITY_DENIED"] },
  { name: "store_list", letter: "p", codes: ["CAPABILITY_DENIED"] },
  { name: "store_write", letter: "q", codes: ["CAPABILITY_DENIED"] },
  { name: "store_trash", letter: "r", codes: ["CAPABILITY_DENIED"] },
  { name: "clock_now", letter: "s", codes: ["CAPABILITY_DENIED"] },
];

test.for(uses)("$name with a forged handle reveals nothing", async ({ letter, codes }) => {
  const seen: unknown[] = [];
  for (const { name, base, value } of handles) {
    // Another user's text, in the same thread and in blocks with the same numbers.
    await forge("ia", 0n, "bob", secret.repeat(20));
    const result = await forge(letter + base, value, "alice");
    const outcome = result.ok ? "ok" : result.error.code;
    expect({ name, isAllowed: codes.includes(outcome) }, outcome).toEqual({ name, isAllowed: true });
    seen.push(result);
  }
  expectNothingOf(secret, [...seen, ...stage.log]);
  await stage.expectHarmless();
});

test("alloc with a forged size is MEMORY_EXCEEDED", async () => {
  for (const value of [-1n, -block(1), 2n ** 63n - 1n, -(2n ** 63n), block(1), 2n ** 53n + 1n]) {
    const result = await forge("aa", value, "alice");
    expect({ value, result }).toMatchObject({ result: { ok: false, error: { code: "MEMORY_EXCEEDED" } } });
  }
  await stage.expectHarmless();
});

test("control: the same guest reads the blocks that its own handles name", async () => {
  expect(await forge("ib", 0n, "alice")).toMatchObject({ ok: true, data: hex(16n) });
  expect(await forge("cr", 0n, "alice")).toMatchObject({ ok: true, data: hex(littleEndian('{"ok":tr')) });
});

function forge(use: string, value: bigint, userId: string, surplus = ""): ReturnType<GuestStage["misbehave"]> {
  return stage.runtime.call("Forge", `${use}${hex(value)}${surplus}`, { userId });
}

const hex = (value: bigint): string => BigInt.asUintN(64, value).toString(16).padStart(16, "0");

const littleEndian = (text: string): bigint => Buffer.from(text).readBigUInt64LE();

/** Fails if the text is found, as text or as a number of eight of its bytes. */
function expectNothingOf(text: string, found: readonly unknown[]): void {
  const all = JSON.stringify(found);
  expect(all).not.toContain(text);
  const doubled = text.repeat(2);
  const words = Array.from(text, (_, at) => hex(littleEndian(doubled.slice(at, at + 8))));
  expect(words.filter((word) => all.includes(word))).toEqual([]);
}
