import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { roleSchemas } from "../../shared/roles.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";

/** What the plugin of `writeInspector` answers. */
export interface InspectorAnswers {
  readonly looking: unknown;
  readonly mending: unknown;
}

/** A plugin whose only tool has the role "inspect" for the scope `notes`, may change nothing, and looks at nothing. */
export function writeInspector(folder: string, { looking, mending }: InspectorAnswers): string {
  const [first, second] = [answerText(looking), answerText(mending)];
  const tool = {
    role: "inspect",
    audience: "host",
    scopes: ["notes"],
    input: toJSONSchema(roleSchemas.inspect.input, { io: "input" }),
    output: toJSONSchema(roleSchemas.inspect.output),
  } as const;
  const { tools, ...manifest } = guestManifest("inspector", { Inspect: "inspect" });
  const file = join(folder, "inspector.wasm");
  const sealed = { ...manifest, tools: tools.map((each) => Object.assign(each, tool)) };
  writeFileSync(file, assembleGuest(guestOf(first, second), [JSON.stringify(sealed)]));
  return file;
}

const answerText = (data: unknown): string => JSON.stringify({ ok: true, message: "", data });

/** Its input is `{"mend":true…` or `{"mend":false…`: the ninth byte tells. */
function guestOf(looking: string, mending: string): string {
  const [length, mendingLength] = [looking, mending].map((text) => Buffer.byteLength(text));
  return `(module
  (import "extism:host/env" "input_load_u8" (func $input (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "${escaped(looking + mending)}")
  (func (export "inspect") (result i32)
    (if (i32.eq (call $input (i64.const 8)) (i32.const 116))
      (then (call $answer (i32.const ${length}) (i32.const ${mendingLength})))
      (else (call $answer (i32.const 0) (i32.const ${length}))))
    (i32.const 0))
  (func $answer (param $from i32) (param $length i32)
    (local $block i64) (local $at i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (loop $copy
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (local.get $length))))
    (call $output_set (local.get $block) (i64.extend_i32_u (local.get $length))))
)`;
}

const escaped = (text: string): string => Buffer.from(text).toString("hex").replaceAll(/../g, "\\$&");
