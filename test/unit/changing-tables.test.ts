/** Which modules keep their tables for ever, so that a host need not compare them after each call. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { canChangeTables } from "../../shared/wasm-code.ts";
import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { concatBytes, encodeUnsigned } from "../../shared/wasm-writer.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const moduleWith = (code: string): WasmSection[] =>
  readSections(
    assembleGuest(
      `(module (memory 1 2) (table 4 funcref) (table $other 4 funcref) (elem $passive func $f)
        (global $g (mut i32) (i32.const 0)) (type $t (func (result i32)))
        (func $f (result i32) (local i64 f32 v128 externref) ${code} (i32.const 1)))`,
      [],
    ),
  );

test.for([
  ["table.set", "(table.set 0 (i32.const 0) (ref.null func))"],
  ["table.grow", "(drop (table.grow 0 (ref.null func) (i32.const 1)))"],
  ["table.copy", "(table.copy 0 $other (i32.const 0) (i32.const 0) (i32.const 1))"],
  ["table.init", "(table.init 0 $passive (i32.const 0) (i32.const 0) (i32.const 1))"],
  ["elem.drop", "(elem.drop $passive)"],
  [
    "table.set in a block of a loop",
    "(block (loop (if (i32.const 1) (then (table.set 0 (i32.const 0) (ref.null func))))))",
  ],
  ["an instruction that is unknown, with bytes like those of table.set", "(drop (v128.const i32x4 0x00260026 0 0 0))"],
] as const)("can change them: %s", ([, code]) => {
  expect(canChangeTables(moduleWith(code))).toBe(true);
});

test.for([
  ["reading", "(drop (table.get 0 (i32.const 0))) (drop (table.size 0))"],
  ["calls", "(drop (call_indirect (type $t) (i32.const 0)))"],
  [
    "bytes like those of table.set, as numbers",
    "(drop (i32.const 38)) (drop (i64.const 9984)) (drop (f64.const 3.14)) (drop (f32.const 1e-38))",
  ],
  [
    "memory.copy and memory.fill",
    "(memory.copy (i32.const 0) (i32.const 1) (i32.const 1)) (memory.fill (i32.const 0) (i32.const 1) (i32.const 1))",
  ],
  [
    "blocks with types, branches and selects",
    "(drop (block (result i32) (br_table 0 0 0 (i32.const 38) (i32.const 0)))) (drop (select (result funcref) (ref.null func) (ref.func $f) (i32.const 1)))",
  ],
] as const)("cannot change them: %s", ([, code]) => {
  expect(canChangeTables(moduleWith(code))).toBe(false);
});

test.for(["user-memory", "journal", "run-history", "stores"])("the plugin %s cannot", (name) => {
  expect(canChangeTables(readSections(readFileSync(shippedPlugin(name))))).toBe(false);
});

test("code that is cut, or has types that are unknown, counts as if it could", () => {
  const codeSection = 10;
  const sections = moduleWith("(drop (i32.const 38)) (drop (i32.const 0))");
  const withCode = (code: readonly number[]): WasmSection[] =>
    sections.map((section) =>
      section.id === codeSection
        ? {
            id: codeSection,
            payload: concatBytes([Uint8Array.of(1), encodeUnsigned(code.length), Uint8Array.from(code)]),
          }
        : section,
    );
  const suspect = [0x41, 0x26, 0x00];
  expect(canChangeTables(withCode([0, ...suspect, 0x0b]))).toBe(false);
  for (const code of [
    [1, 1, 0x63, ...suspect, 0x0b],
    [0, 0x02, 0x64, ...suspect, 0x0b],
    [0, 0x1c, 1, 0x63, ...suspect, 0x0b],
    [0, 0x28, 0x42, 0x00, ...suspect, 0x0b],
    [0, 0xfc, 0x20, ...suspect, 0x0b],
    [0, ...suspect, 0x41],
    [0, ...suspect, 0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
  ]) {
    expect(canChangeTables(withCode(code)), String(code)).toBe(true);
  }
  expect(canChangeTables(sections.filter(({ id }) => id !== codeSection && id !== sectionIds.function))).toBe(false);
});
