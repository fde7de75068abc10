/**
 * Writes the part of the glue that differs between families, as WebAssembly text: the imported capabilities, the
 * exported functions, and the constants of the snapshot. `glue/engine.wat` says what each is for.
 */
import { capabilityModule } from "../shared/abi.ts";
import type { CapabilityName } from "../shared/abi.ts";
import { exportsOf } from "../shared/manifest.ts";
import type { Family } from "../shared/manifest.ts";
import { outcomeCodes } from "./outcome-codes.ts";
import type { Snapshot } from "./snapshot.ts";

export function familyGlue(
  family: Family,
  capabilities: readonly CapabilityName[],
  fuelPolls: number,
  snapshot: Snapshot,
): string {
  return [
    "(module",
    ...capabilities.map(
      (name) => `  (import "${capabilityModule}" "${name}" (func $${name} (param i64) (result i64)))`,
    ),
    `  (import "env" "run" (func $run (param i32) (result i32)))`,
    ...(snapshot.deferred.length > 0
      ? [`  (import "qjs" "qjs_eval_bytecode" (func $run_bytecode (param i32 i32) (result i32)))`]
      : []),
    "",
    constant("fuel_polls", fuelPolls),
    constant("context", snapshot.context),
    constant("out_of_memory_code", outcomeCodes.outOfMemory),
    constant("nothing_code", outcomeCodes.nothing),
    ...Object.entries(snapshot.texts).flatMap(([name, { pointer, bytes }]) => [
      constant(`${name}_text`, pointer),
      constant(`${name}_text_bytes`, bytes),
    ]),
    constant("scratch", snapshot.scratch),
    "",
    "  ;; An unknown number gives handle 0, which the guest takes as a refusal.",
    `  (func (export "capability") (param $index i32) (param $request i64) (result i64)`,
    ...capabilities.flatMap((name, index) => [
      `    (if (i32.eq (local.get $index) (i32.const ${index}))`,
      `      (then (return (call $${name} (local.get $request)))))`,
    ]),
    "    (i64.const 0))",
    "",
    `  (func (export "deferred") (param $index i32) (result i32)`,
    ...snapshot.deferred.flatMap(({ pointer, bytes }, index) => [
      `    (if (i32.eq (local.get $index) (i32.const ${index}))`,
      `      (then (return (call $run_bytecode (i32.const ${pointer}) (i32.const ${bytes})))))`,
    ]),
    "    (i32.const 0))",
    "",
    ...family.tools
      .flatMap(exportsOf)
      .map(
        (name, index) => `  (func (export "${name}") (result i32) (call $run (i32.const ${snapshot.tools[index]})))`,
      ),
    ")",
    "",
  ].join("\n");
}

function constant(name: string, value: number): string {
  return `  (global (export "${name}") i32 (i32.const ${value}))`;
}
