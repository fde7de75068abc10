/** Plugin files that contradict their manifest: refused when the runtime is created, before any of their code runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import type { Manifest } from "../../shared/manifest.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const good = guestManifest("guest", { Guest: "guest" });
const module = (...parts: string[]): string => `(module ${parts.join(" ")})`;
const memory = '(memory (export "memory") 1 4)';
const run = '(func (export "guest") (result i32) (i32.const 0))';
const imports = (from: string, name: string): string => `(import "${from}" "${name}" (func (param i64) (result i64)))`;

interface Refusal {
  readonly name: string;
  readonly text: string;
  readonly manifests?: readonly unknown[];
  readonly reason: RegExp;
}

const [firstTool] = good.tools as [Manifest["tools"][number]];
const change = (changes: Partial<Manifest>): unknown => ({ ...good, ...changes });

const refusals: Refusal[] = [
  { name: "no manifest", text: module(memory, run), manifests: [], reason: /exactly one custom section/ },
  { name: "two manifests", text: module(memory, run), manifests: [good, good], reason: /exactly one custom section/ },
  { name: "a manifest of another form", text: module(memory, run), manifests: [{}], reason: /form of ABI version 1/ },
  { name: "another ABI version", text: module(memory, run), manifests: [{ ...good, abi: 3 }], reason: /form of ABI/ },
  {
    name: "a right that does not exist",
    text: module(memory, run),
    manifests: [{ ...good, tools: [{ ...good.tools[0], rights: ["network"] }] }],
    reason: /form of ABI/,
  },
  {
    name: "a scope that climbs",
    text: module(memory, run),
    manifests: [{ ...good, tools: [{ ...good.tools[0], scopes: ["../x"] }] }],
    reason: /form of ABI/,
  },
  {
    name: "an undeclared capability",
    text: module(imports("extism:host/user", "store_read"), memory, run),
    reason: /imports function "extism:host\/user" "store_read"/,
  },
  {
    name: "a capability that does not exist",
    text: module(imports("extism:host/user", "shell"), memory, run),
    reason: /"shell"/,
  },
  {
    name: "a kernel function outside the subset",
    text: module(imports("extism:host/env", "http_request"), memory, run),
    reason: /"http_request"/,
  },
  {
    name: "a variable of Extism",
    text: module(imports("extism:host/env", "var_get"), memory, run),
    reason: /"var_get"/,
  },
  {
    name: "a way to set a variable of Extism",
    text: module('(import "extism:host/env" "var_set" (func (param i64 i64)))', memory, run),
    reason: /"var_set"/,
  },
  {
    name: "WASI",
    text: module(imports("wasi_snapshot_preview1", "fd_write"), memory, run),
    reason: /"wasi_snapshot_preview1"/,
  },
  {
    name: "an imported memory",
    text: module('(import "extism:host/env" "memory" (memory 1 4))', '(export "memory" (memory 0))', run),
    reason: /imports memory/,
  },
  {
    name: "an imported table",
    text: module('(import "extism:host/env" "alloc" (table 1 funcref))', memory, run),
    reason: /imports table "extism:host\/env" "alloc"/,
  },
  {
    name: "an imported global",
    text: module('(import "extism:host/user" "store_read" (global i64))', memory, run),
    reason: /imports global "extism:host\/user" "store_read"/,
  },
  {
    name: "a function from nowhere",
    text: module(imports("env", "alloc"), memory, run),
    reason: /imports function "env" "alloc"/,
  },
  {
    name: "one name that looks like a module and a function name",
    text: module(imports("extism:host/env alloc", ""), memory, run),
    reason: /imports function "extism:host\/env alloc" ""/,
  },
  {
    name: "a name that reverses the text's direction",
    text: module(imports("extism:host/env", "\\e2\\80\\ae\\0a"), memory, run),
    reason: /imports function "extism:host\/env" "[^\n\u202e]*"/,
  },
  {
    name: "a declared capability that is not imported",
    text: module(memory, run),
    manifests: [{ ...good, tools: [{ ...good.tools[0], rights: ["read"] }] }],
    reason: /asks for "store_read"/,
  },
  { name: "a missing export", text: module(memory), reason: /names "guest", which it does not export/ },
  {
    name: "an undeclared export",
    text: module(memory, run, '(func (export "_start"))'),
    reason: /exports function "_start"/,
  },
  {
    name: "an export that Extism runs before any call, as a tool",
    text: module(memory, '(func (export "hs_init") (result i32) (i32.const 0))'),
    manifests: [{ ...good, tools: [{ ...good.tools[0], export: "hs_init" }] }],
    reason: /exports "hs_init", which Extism runs before any call/,
  },
  { name: "a start function", text: module(memory, run, "(func $go)", "(start $go)"), reason: /start function/ },
  { name: "no memory maximum", text: module('(memory (export "memory") 1)', run), reason: /1 to unlimited pages/ },
  { name: "a memory other than declared", text: module('(memory (export "memory") 1 5)', run), reason: /1 to 5 pages/ },
  {
    name: "a memory over the limit",
    text: module('(memory (export "memory") 1 2000)', run),
    manifests: [change({ memoryPages: { min: 1, max: 2000 } })],
    reason: /at most 512/,
  },
  {
    name: "a tool that takes a parameter",
    text: module(memory, '(func (export "guest") (param i32) (result i32) (i32.const 0))'),
    reason: /exports "guest" as i32->i32, allowed is ->i32/,
  },
  {
    name: "a tool that returns nothing",
    text: module(memory, '(func (export "guest"))'),
    reason: /exports "guest" as ->, allowed/,
  },
  {
    name: "a capability of another type",
    text: module('(import "extism:host/user" "store_read" (func (param f64 i32) (result i32)))', memory, run),
    manifests: [change({ tools: [{ ...firstTool, rights: ["read"] }] })],
    reason: /as f64,i32->i32, allowed is i64->i64/,
  },
  {
    name: "a kernel function of another type",
    text: module('(import "extism:host/env" "alloc" (func (param i32) (result i32)))', memory, run),
    reason: /"extism:host\/env alloc" as i32->i32, allowed is i64->i64/,
  },
  {
    name: "a shared memory",
    text: module('(memory (export "memory") 1 4 shared)', run),
    reason: /a memory is shared/,
  },
  {
    name: "no tools",
    text: module(memory),
    manifests: [change({ tools: [] })],
    reason: /form of ABI/,
  },
  {
    name: "one capability imported twice",
    text: module(imports("extism:host/user", "store_read"), imports("extism:host/user", "store_read"), memory, run),
    manifests: [change({ tools: [{ ...firstTool, rights: ["read"] }] })],
    reason: /imports "extism:host\/user store_read" twice/,
  },
  {
    name: "a memory that cannot grow",
    text: module('(memory (export "memory") 4 4)', run),
    manifests: [change({ memoryPages: { min: 4, max: 4 } })],
    reason: /fewer at first/,
  },
];

test.for(refusals)("a plugin with $name is refused", async ({ text, manifests = [good], reason }, { task }) => {
  const file = join(folder.path, `${task.id}.wasm`);
  writeFileSync(
    file,
    assembleGuest(
      text,
      manifests.map((manifest) => JSON.stringify(manifest)),
    ),
  );
  await expectRefused([file], reason);
});

test("control: the guest that these files are derived from is accepted", async () => {
  const file = join(folder.path, "good.wasm");
  writeFileSync(file, assembleGuest(module(memory, run), [JSON.stringify(good)]));
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools().map(({ name }) => name)).toEqual(["Guest"]);
});

test("two plugins that offer the same tool are refused", async () => {
  await expectRefused(
    [shippedPlugin("user-memory"), shippedPlugin("user-memory")],
    /which is loaded too, has the same name/,
  );
});

async function expectRefused(plugins: string[], reason: RegExp): Promise<void> {
  const policy = policyFor(plugins);
  const error = await createRuntime({ dataDir: folder.path, plugins, policy }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ToolError)) throw new Error("The plugin was not refused");
  expect(error.code).toBe("PLUGIN_REFUSED");
  expect(error.message).toMatch(reason);
  expect(error.message).not.toContain(folder.path);
}
