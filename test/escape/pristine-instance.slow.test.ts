/**
 * No state survives a call, for every kind of state that a WebAssembly instance has. A call leaves marks and ends in
 * one of many ways. The calls after it must find the same as calls in a new runtime.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createPlugin } from "@extism/extism";
import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { markerVariants, writeMarker } from "./marker-variants.ts";
import type { MarkerVariant } from "./marker-variants.ts";

/** The ways to end a call, by the letters of `marker.wat`. */
const ends = [
  { name: "answers", letter: "a", code: "ok" },
  { name: "answers with an invalid envelope", letter: "q", code: "OUTPUT_INVALID" },
  { name: "does not answer", letter: "-", code: "OUTPUT_INVALID" },
  { name: "answers and returns a code", letter: "r", code: "GUEST_TRAPPED" },
  { name: "answers and fails", letter: "c", code: "NAME_CONFLICT" },
  { name: "fails", letter: "e", code: "NAME_CONFLICT" },
  { name: "is out of fuel", letter: "f", code: "FUEL_EXHAUSTED" },
  { name: "is denied", letter: "d", code: "CAPABILITY_DENIED" },
  { name: "crashes", letter: "x", code: "GUEST_TRAPPED" },
  { name: "recurses", letter: "s", code: "GUEST_TRAPPED" },
  { name: "is out of blocks", letter: "n", code: "MEMORY_EXCEEDED" },
];

/** All together and one by one: one kind of mark can make the host discard the instance with its other marks. */
const marks = ["mgbv", "m", "g", "b", "v", "t", "T", "G", "Gm", "z", "mgbtTGmv"];

/** What a call looks for. The last sets no output, and so would show an earlier call's output. */
const looks = ["L", "V", "Z", "-"];

test.for(markerVariants)("a guest with $name finds no mark of the calls before it", async (variant) => {
  using folder = temporaryFolder();
  const plugin = writeMarker(folder.path, variant);
  const open = (): Promise<Runtime> =>
    createRuntime({ dataDir: folder.path, plugins: [plugin], policy: policyFor([plugin]), threadsMax: 1 });

  const inNewRuntime: Record<string, ToolResult> = {};
  for (const look of looks) {
    await using fresh = await open();
    inNewRuntime[look] = await fresh.call("Mark", look, { userId: "alice" });
  }
  expect(inNewRuntime["L"]).toMatchObject({ ok: true, data: "0000000200000000" });
  expect(inNewRuntime["V"]).toMatchObject({ ok: true, data: "0000000000000000" });

  await using runtime = await open();
  for (const [turn, { letter, code }] of ends.entries()) {
    for (const kinds of marks) {
      for (let times = 0; times <= turn % 2; times++) {
        const ended = await runtime.call("Mark", kinds + letter, { userId: "alice" });
        const happened = ended.ok ? "ok" : ended.error.code;
        // If there is no block before the first, leaving a mark in it crashes.
        expect([code, kinds.includes("z") && "GUEST_TRAPPED"], kinds + letter).toContain(happened);
      }
      for (const [look, expected] of Object.entries(inNewRuntime)) {
        const userId = turn % 3 === 0 ? "alice" : "bob";
        expect({ kinds, letter, found: await runtime.call("Mark", look, { userId }) }).toEqual({
          kinds,
          letter,
          found: expected,
        });
      }
    }
  }
});

test.for(markerVariants)("control: with the SDK alone a guest with $name finds the marks", async (variant) => {
  const plugin = await openInstance(variant);
  const call = async (letters: string): Promise<unknown> => (await plugin.call("mark", `"${letters}"`))?.json().data;
  expect(await call("L")).toBe("0000000200000000");
  await call("mgtTGba");
  // Bits for: blocks that are not freed, memory, a text, its size, both globals, the table's length and its functions.
  const found = Number.parseInt(String(await call("L")).slice(8), 16);
  expect(found & 0x3fe).toBe(0x3fe);
  await call("va");
  const further = await call("V").catch(() => "crashed");
  if (variant.mark !== "") expect(further).not.toBe("0000000000000000");
});

async function openInstance(variant: MarkerVariant): ReturnType<typeof createPlugin> {
  using folder = temporaryFolder();
  const data = new Uint8Array(readFileSync(writeMarker(join(folder.path), variant)));
  const functions = { "extism:host/user": { store_write: () => 0n } };
  return createPlugin({ wasm: [{ data }] }, { useWasi: false, functions });
}
