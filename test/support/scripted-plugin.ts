/** A plugin whose tools have fixed answers, whatever their input. Used to give false answers to the host. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { capabilityNames, capabilityRights } from "../../shared/abi.ts";
import type { Right } from "../../shared/abi.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
import { roleSchemas } from "../../shared/roles.ts";
import type { Role } from "../../shared/roles.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";

export interface Script {
  readonly role: Role;
  readonly rights?: readonly Right[];
  /** Requests that it makes first, with their capabilities' names. */
  readonly requests?: readonly (readonly [capability: string, request: object])[];
  /** Then it never ends. */
  readonly isEndless?: boolean;
  /** The `data` of its success. */
  readonly answer: unknown;
  /** For a tool with the role "inspect": the `data` when it is called to repair. */
  readonly mendingAnswer?: unknown;
}

const pages = 4;

/** Assembles it into a folder and returns its path. Its scope is `notes`. */
export function writeScriptedPlugin(folder: string, family: string, scripts: Readonly<Record<string, Script>>): string {
  const names = Object.keys(scripts);
  const texts = new Texts();
  const exports = names.map(
    (name) => `(func (export "${name.toLowerCase()}") (result i32) ${body(scripts[name], texts)})`,
  );
  const rights = new Set(Object.values(scripts).flatMap((script) => script.rights ?? []));
  const text = `(module
    (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    ${importsFor(rights)}
    (memory (export "memory") ${pages} ${pages + 1})
    ${texts.data.join("\n")}
    ${exports.join("\n")}
    (func $block (param $from i32) (param $bytes i32) (result i64)
      (local $block i64) (local $at i32)
      (local.set $block (call $alloc (i64.extend_i32_u (local.get $bytes))))
      (loop $copy
        (call $store_u8
          (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
          (i32.load8_u (i32.add (local.get $from) (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $copy (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.get $block)))`;
  const manifest = guestManifest(family, Object.fromEntries(names.map((name) => [name, name.toLowerCase()])));
  const tools = manifest.tools.map((tool) => Object.assign(tool, toolOf(scripts[tool.name])));
  const sealed = { ...manifest, tools, memoryPages: { min: pages, max: pages + 1 } };
  const file = join(folder, `${family}.wasm`);
  writeFileSync(file, assembleGuest(text, [JSON.stringify(sealed)]));
  return file;
}

/** A module imports exactly the capabilities for its manifest's rights. */
export function importsFor(rights: ReadonlySet<Right>): string {
  return capabilityNames
    .filter((name) => rights.has(capabilityRights[name]))
    .map((name) => `(import "extism:host/user" "${name}" (func $${name} (param i64) (result i64)))`)
    .join("\n");
}

function toolOf(script: Script | undefined): Partial<ManifestTool> {
  if (script === undefined) return {};
  const { role, rights = [] } = script;
  const input = toJSONSchema(roleSchemas[role].input, { io: "input" });
  const output = toJSONSchema(roleSchemas[role].output);
  return { role, rights: [...rights], audience: "host", scopes: ["notes"], input, output };
}

function body(script: Script | undefined, texts: Texts): string {
  const { requests = [], answer, mendingAnswer, isEndless = false } = script ?? { answer: null };
  const output = (data: unknown): string => {
    const [block, bytes] = texts.block({ ok: true, message: "Done", data });
    return `(call $output_set ${block} (i64.const ${bytes}))`;
  };
  // The input is `{"mend":true…` or `{"mend":false…`; the ninth byte distinguishes them.
  const isMending = "(i32.eq (call $input_load_u8 (i64.const 8)) (i32.const 116))";
  const told =
    mendingAnswer === undefined
      ? output(answer)
      : `(if ${isMending} (then ${output(mendingAnswer)}) (else ${output(answer)}))`;
  const asks = requests.map(([capability, request]) => `(drop (call $${capability} ${texts.block(request)[0]}))`);
  const spin = isEndless ? "(loop $spin (br $spin))" : "";
  return `${asks.join(" ")} ${spin} ${told} (i32.const 0)`;
}

/** JSON texts in the guest's memory. */
class Texts {
  readonly data: string[] = [];
  #at = 0;

  /** Returns the expression that creates a block with a value's text, and the text's bytes. */
  block(value: unknown): [expression: string, bytes: number] {
    const text = Buffer.from(JSON.stringify(value));
    const escaped = Array.from(text, (byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
    this.data.push(`(data (i32.const ${this.#at}) "${escaped}")`);
    const expression = `(call $block (i32.const ${this.#at}) (i32.const ${text.length}))`;
    this.#at += text.length;
    return [expression, text.length];
  }
}
