/** The guest `marker.wat` with further kinds of state. The WebAssembly standard defines no others for an instance. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { guestText } from "../support/write-guest.ts";

/** Code for the state itself, code that leaves a mark in it, and code that returns non-zero if it finds a mark. */
export interface MarkerVariant {
  readonly name: string;
  readonly state: string;
  readonly mark: string;
  readonly look: string;
}

export const markerVariants: readonly MarkerVariant[] = [
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
export function writeMarker(folder: string, { state, mark, look }: MarkerVariant): string {
  const file = join(folder, "marker.wasm");
  const text = guestText("marker").replace(
    slot,
    `${state} (func $mark_variant ${mark}) (func $look_variant (result i64) ${look})`,
  );
  const manifest = guestManifest("marker", { Mark: "mark" }, { Mark: ["write"] });
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  return file;
}
