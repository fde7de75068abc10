/**
 * Files that are no plugins, exceed a limit or contradict their manifest: refused when the runtime is created, before any
 * of their code runs. The reason names the present and the allowed value.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import type { Manifest, ManifestTool, PluginError } from "../../shared/manifest.ts";
import { WasmReader } from "../../shared/wasm-sections.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { refusedFiles, wholeFiles } from "./plugin-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const good = guestManifest("guest", { Guest: "guest" });
const changed = (changes: object): unknown => ({ ...good, ...changes });
const withTool = (changes: object): unknown => changed({ tools: [{ ...(good.tools[0] as ManifestTool), ...changes }] });
const memoryOf = (min: number, max: number): unknown => changed({ memoryPages: { min, max } });
const reading = withTool({ rights: ["read"] });

const memory = '(memory (export "memory") 1 4)';
const run = '(func (export "guest") (result i32) (i32.const 0))';
const imports = (from: string, name: string, type = "func (param i64) (result i64)"): string =>
  `(import "${from}" "${name}" (${type}))`;
const user = "extism:host/user";
const env = "extism:host/env";

const seatTaken: PluginError = { code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." };
const manyErrors = (count: number): PluginError[] =>
  Array.from({ length: count }, (_, at) => ({
    ...seatTaken,
    code: `SEAT_${"ABCDEFGH"[at % 8]}_${"A".repeat(at / 8 + 1)}`,
  }));
/** A manifest with an error code of this form. */
const coded = (error: object): unknown => changed({ errors: [{ ...seatTaken, ...error }] });
const ofForm = /form of ABI/;

/** What is wrong, why it is refused, the module's parts, and its manifests. */
type Refusal = readonly [name: string, reason: RegExp, parts?: readonly string[], manifests?: readonly unknown[]];

const whole = [memory, run];

const refusals: readonly Refusal[] = [
  ["no manifest", /exactly one custom section/, whole, []],
  ["two manifests", /exactly one custom section/, whole, [good, good]],
  ["a manifest of another form", /form of ABI version 1/, whole, [{}]],
  ["another ABI version", ofForm, whole, [changed({ abi: 3 })]],
  ["a right that does not exist", ofForm, whole, [withTool({ rights: ["network"] })]],
  ["a scope that climbs", ofForm, whole, [withTool({ scopes: ["../x"] })]],
  ["no tools", ofForm, [memory], [changed({ tools: [] })]],
  ["an undeclared capability", /imports function "extism:host\/user" "store_read"/, [imports(user, "store_read")]],
  ["a capability that does not exist", /"shell"/, [imports(user, "shell")]],
  ["a kernel function outside the subset", /"http_request"/, [imports(env, "http_request")]],
  ["a variable of Extism", /"var_get"/, [imports(env, "var_get")]],
  ["WASI", /"wasi_snapshot_preview1"/, [imports("wasi_snapshot_preview1", "fd_write")]],
  ["an imported table", /imports table "extism:host\/env" "alloc"/, [imports(env, "alloc", "table 1 funcref")]],
  ["an imported global", /global "extism:host\/user" "store_read"/, [imports(user, "store_read", "global i64")]],
  ["a function from nowhere", /imports function "env" "alloc"/, [imports("env", "alloc")]],
  ["a name that looks like module and function", /"extism:host\/env alloc" ""/, [imports(`${env} alloc`, "")]],
  ["a name that reverses the text", /"extism:host\/env" "[^\n\u202e]*"/, [imports(env, "\\e2\\80\\ae\\0a")]],
  [
    "an imported memory",
    /imports memory/,
    [imports(env, "memory", "memory 1 4"), '(export "memory" (memory 0))', run],
    [good],
  ],
  ["a declared capability that is not imported", /asks for "store_read"/, whole, [reading]],
  [
    "a capability of another type",
    /as f64,i32->i32, allowed is i64->i64/,
    [imports(user, "store_read", "func (param f64 i32) (result i32)"), ...whole],
    [reading],
  ],
  [
    "a kernel function of another type",
    /"extism:host\/env alloc" as i32->i32, allowed is i64->i64/,
    [imports(env, "alloc", "func (param i32) (result i32)")],
  ],
  [
    "one capability imported twice",
    /imports "extism:host\/user store_read" twice/,
    [imports(user, "store_read"), imports(user, "store_read"), ...whole],
    [reading],
  ],
  ["a missing export", /names "guest", which it does not export/, [memory], [good]],
  ["an undeclared export", /exports function "_start"/, [...whole, '(func (export "_start"))'], [good]],
  [
    "an export that Extism runs before any call, as a tool",
    /exports "hs_init", which Extism runs before any call/,
    [memory, run.replace("guest", "hs_init")],
    [withTool({ export: "hs_init" })],
  ],
  ["a start function", /start function/, [...whole, "(func $go (loop $turn (br $turn)))", "(start $go)"], [good]],
  [
    "a tool that takes a parameter",
    /exports "guest" as i32->i32, allowed is ->i32/,
    [memory, '(func (export "guest") (param i32) (result i32) (i32.const 0))'],
    [good],
  ],
  ["a tool that returns nothing", /exports "guest" as ->, allowed/, [memory, '(func (export "guest"))'], [good]],
  ["no memory maximum", /1 to unlimited pages/, [memory.replace("1 4", "1"), run], [good]],
  ["a memory other than declared", /1 to 5 pages/, [memory.replace("4", "5"), run], [good]],
  ["a memory over the limit", /at most 512/, [memory.replace("4", "2000"), run], [memoryOf(1, 2000)]],
  ["a memory that cannot grow", /fewer at first/, [memory.replace("1 4", "4 4"), run], [memoryOf(4, 4)]],
  ["a shared memory", /a memory is shared/, [memory.replace("4", "4 shared"), run], [good]],
  ["a code of the table's", /STORAGE_FULL, which is one of the table$/, whole, [coded({ code: "STORAGE_FULL" })]],
  [
    "a code twice",
    /declares the error code SEAT_TAKEN more than once$/,
    whole,
    [changed({ errors: [seatTaken, { ...seatTaken, of: "ENTRY_NOT_FOUND" }] })],
  ],
  ["65 codes", /declares 65 error codes, at most 64 allowed$/, whole, [changed({ errors: manyErrors(65) })]],
  [
    "a code whose meaning has a hidden character",
    /error code SEAT_TAKEN has the character U\+E0041 in its meaning, where a model would read it/,
    whole,
    [coded({ meaning: "Taken.\u{e0041}" })],
  ],
  ["codes that are not a list", ofForm, whole, [changed({ errors: { SEAT_TAKEN: "NAME_CONFLICT" } })]],
  ["a code that is a case of one that only a host reports", ofForm, whole, [coded({ of: "STORAGE_FULL" })]],
  ["a code that is a case of a denial", ofForm, whole, [coded({ of: "CAPABILITY_DENIED" })]],
  ["a code that is a case of an unknown code", ofForm, whole, [coded({ of: "SEAT" })]],
  ["a code without `of`", ofForm, whole, [coded({ of: undefined })]],
  ["a code with an empty meaning", ofForm, whole, [coded({ meaning: "" })]],
  ["a code that says whose fault it is", ofForm, whole, [coded({ blame: "host" })]],
  ["a code in lower case", ofForm, whole, [coded({ code: "Seat_taken" })]],
  ["a code that begins with _", ofForm, whole, [coded({ code: "_SEAT" })]],
  ["a code of 65 characters", ofForm, whole, [coded({ code: "A".repeat(65) })]],
];

/** Without manifests, the parts are imports of an otherwise valid guest. */
test.for(refusals)("a plugin with %s is refused", async ([, reason, parts = [], manifests]) => {
  const text = `(module ${(manifests === undefined ? [...parts, ...whole] : parts).join(" ")})`;
  await expectRefused([writePlugin("refused", text, manifests ?? [good])], reason);
});

test.for(refusedFiles)("a file with %s is refused", async ([, bytes, reason]) => {
  const file = join(folder.path, "refused.wasm");
  writeFileSync(file, bytes);
  await expectRefused([file], reason);
});

test("a file of 17 MiB is refused without reading it", async () => {
  const file = join(folder.path, "large.wasm");
  writeFileSync(file, "");
  // Sparse, and the second does not fit into memory: reading it would fail for another reason.
  for (const bytes of [17 * 2 ** 20, 2 ** 40]) {
    truncateSync(file, bytes);
    await expectRefused([file], new RegExp(`it is ${bytes} bytes, at most 16777216 allowed`));
  }
});

test("anything but a regular file is refused without waiting for it", async () => {
  const [fifo, directory] = [join(folder.path, "fifo.wasm"), join(folder.path, "directory.wasm")];
  execFileSync("mkfifo", [fifo]);
  mkdirSync(directory);
  for (const file of [fifo, directory, "/dev/zero"]) await expectRefused([file], /it is not a regular file/);
  await expectRefused([join(folder.path, "absent.wasm")], /"absent.wasm": it cannot be read/);
});

test.for(wholeFiles)("$name that is cut off anywhere is refused; control: whole, it is accepted", async ({ wasm }) => {
  const random = seededRandom(4);
  const places = Array.from({ length: 150 }, () => Math.floor(random() * wasm.length));
  const nearBorders = bordersOf(wasm).flatMap((at) => [at - 1, at, at + 1]);
  const cuts = new Set([...nearBorders, ...places].filter((at) => at < wasm.length));
  expect(cuts.size).toBeGreaterThan(100);
  const file = join(folder.path, "cut.wasm");
  for (const at of cuts) {
    writeFileSync(file, wasm.subarray(0, at));
    await expectRefused([file], /Cannot load plugin "cut.wasm": it/);
  }
  writeFileSync(file, wasm);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy: policyFor([file]) });
  expect(runtime.tools().length).toBeGreaterThan(0);
});

/** The offsets where the header and each section end. */
function bordersOf(wasm: Uint8Array): number[] {
  const borders = [8];
  const reader = new WasmReader(wasm, 8);
  while (!reader.atEnd) {
    reader.byte();
    reader.bytes(reader.u32());
    borders.push(wasm.length - reader.rest.length);
  }
  return borders;
}

test("two plugins that offer the same tool are refused", async () => {
  const twice = [shippedPlugin("user-memory"), shippedPlugin("user-memory")];
  await expectRefused(twice, /which is loaded too, has the same name/);
});

test("control: the guest that these files are derived from is accepted, with as many codes as are allowed", async () => {
  const errors = manyErrors(64);
  const plugins = ["First", "Second"].map((tool) => {
    const manifest: Manifest = { ...guestManifest(tool.toLowerCase(), { [tool]: "guest" }), errors };
    return writePlugin(tool, `(module ${whole.join(" ")})`, [manifest]);
  });
  await using runtime = await createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins) });
  expect(runtime.tools().map((tool) => [tool.name, tool.errors])).toEqual([
    ["First", errors],
    ["Second", errors],
  ]);
});

function writePlugin(name: string, text: string, manifests: readonly unknown[]): string {
  const file = join(folder.path, `${name}.wasm`);
  const sealed = manifests.map((manifest) => JSON.stringify(manifest));
  writeFileSync(file, assembleGuest(text, sealed));
  return file;
}

async function expectRefused(plugins: string[], reason: RegExp): Promise<void> {
  const creating = createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins) });
  const error = await creating.catch((thrown: unknown) => thrown);
  if (!(error instanceof ToolError)) throw new Error(`The plugin was not refused: ${String(error)}`);
  expect(error.code).toBe("PLUGIN_REFUSED");
  expect(error.message).toMatch(reason);
  expect(error.message).not.toContain(folder.path);
  expect(error.message.length).toBeLessThan(400);
}
