/**
 * No state survives a call, for every kind of state that a WebAssembly instance has. A call leaves marks and ends in
 * one of many ways. The calls after it must find the same as calls in a new runtime.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createPlugin } from "@extism/extism";
import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { guestText } from "../support/write-guest.ts";

/**
 * The guest `marker.wat` with further kinds of state; the standard defines no others for an instance: code for the state itself, code that leaves a mark in it, and code that returns non-zero if it
 * finds a mark.
 */
interface MarkerVariant {
  readonly name: string;
  readonly state: string;
  readonly mark: string;
  readonly look: string;
}

const markerVariants: readonly MarkerVariant[] = [
  { name: "nothing further", state: "", mark: "", look: "(i64.const 0)" },
  {
    name: "an f32 global",
    state: "(global $more (mut f32) (f32.const 1.5))",
    // A signalling NaN with bits that a JavaScript number does not keep.
    mark: "(global.set $more (f32.reinterpret_i32 (i32.const 0x7fa4d4d4)))",
    look: "(i64.extend_i32_u (i32.xor (i32.reinterpret_f32 (global.get $more)) (i32.const 0x3fc00000)))",
  },
  {
    name: "an f64 global that begins as a signalling NaN",
    state: "(global $more (mut f64) (f64.const nan:0x4d4d4d4d4d))",
    mark: "(global.set $more (f64.const 1.5))",
    look: "(i64.xor (i64.reinterpret_f64 (global.get $more)) (i64.const 0x7ff0004d4d4d4d4d))",
  },
  {
    name: "a v128 global",
    state: "(global $more (mut v128) (v128.const i64x2 1 2))",
    mark: "(global.set $more (v128.const i64x2 1 77))",
    look: "(i64.xor (i64x2.extract_lane 1 (global.get $more)) (i64.const 2))",
  },
  {
    name: "a global that holds a function",
    state: "(global $more (mut funcref) (ref.null func))",
    mark: "(global.set $more (ref.func $marked))",
    look: "(i64.extend_i32_u (i32.eqz (ref.is_null (global.get $more))))",
  },
  {
    name: "many globals",
    state: Array.from({ length: 200 }, (_, at) => `(global $more${at} (mut i32) (i32.const ${at}))`).join(" "),
    mark: Array.from({ length: 200 }, (_, at) => `(global.set $more${at} (i32.const -1))`).join(" "),
    look: Array.from({ length: 200 }, (_, at) => at).reduce(
      (sum, at) => `(i64.add ${sum} (i64.extend_i32_u (i32.ne (global.get $more${at}) (i32.const ${at}))))`,
      "(i64.const 0)",
    ),
  },
  {
    name: "a second table of functions",
    state: "(table $more 2 8 funcref)",
    mark: "(table.set $more (i32.const 1) (ref.func $marked))",
    look: "(i64.extend_i32_u (i32.eqz (ref.is_null (table.get $more (i32.const 1)))))",
  },
  {
    name: "a second table that is filled",
    state: "(table $more 4 8 funcref)",
    mark: "(table.fill $more (i32.const 1) (ref.func $marked) (i32.const 3))",
    look: "(i64.extend_i32_u (i32.eqz (ref.is_null (table.get $more (i32.const 3)))))",
  },
  {
    name: "a table of foreign references",
    state: "(table $more 1 8 externref)",
    mark: "(drop (table.grow $more (ref.null extern) (i32.const 3)))",
    look: "(i64.extend_i32_u (i32.ne (table.size $more) (i32.const 1)))",
  },
  {
    name: "a passive data segment",
    state: '(data $more "MMMMMMMM")',
    mark: "(data.drop $more)",
    // This traps once the segment is dropped.
    look: `(memory.init $more (i32.const 400) (i32.const 0) (i32.const 8))
      (i64.xor (i64.load (i32.const 400)) (global.get $mark))`,
  },
  {
    name: "a passive element segment",
    state: "(elem $more funcref (ref.func $marked))",
    mark: "(elem.drop $more)",
    look: "(table.init $table $more (i32.const 3) (i32.const 0) (i32.const 1)) (i64.const 0)",
  },
];

const slot = /;; variant begins[^]*;; variant ends/;

/** Writes the variant as a plugin into a folder and returns its file. */
function writeMarker(folder: string, { state, mark, look }: MarkerVariant): string {
  const file = join(folder, "marker.wasm");
  const text = guestText("marker").replace(
    slot,
    `${state} (func $mark_variant ${mark}) (func $look_variant (result i64) ${look})`,
  );
  const manifest = guestManifest("marker", { Mark: "mark" }, { Mark: ["write"] });
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  return file;
}

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

test.for(oneIn(3, markerVariants))("a guest with $name finds no mark of the calls before it", async (variant) => {
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
