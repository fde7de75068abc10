/**
 * Files that are no plugins, exceed a limit or contradict their manifest: refused when the runtime is created, before any
 * of their code runs. The reason names the present and the allowed value.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import { pluginLimits } from "../../shared/limits.ts";
import { manifestSection } from "../../shared/manifest.ts";
import type { Manifest, ManifestTool, PluginError } from "../../shared/manifest.ts";
import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { concatBytes, customSection, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

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
  ["an undeclared capability", /imports function "extism:host\/user" "store_read"/, [imports(user, "store_read")]],
  ["a capability that does not exist", /"shell"/, [imports(user, "shell")]],
  ["a kernel function outside the subset", /"http_request"/, [imports(env, "http_request")]],
  ["WASI", /"wasi_snapshot_preview1"/, [imports("wasi_snapshot_preview1", "fd_write")]],
  ["an imported table", /imports table "extism:host\/env" "alloc"/, [imports(env, "alloc", "table 1 funcref")]],
  ["an imported global", /global "extism:host\/user" "store_read"/, [imports(user, "store_read", "global i64")]],
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
  ["a code that is a case of one that only a host reports", ofForm, whole, [coded({ of: "STORAGE_FULL" })]],
  ["a code that is a case of a denial", ofForm, whole, [coded({ of: "CAPABILITY_DENIED" })]],
  ["a code that is a case of an unknown code", ofForm, whole, [coded({ of: "SEAT" })]],
  ["a code without `of`", ofForm, whole, [coded({ of: undefined })]],
  ["a code that says whose fault it is", ofForm, whole, [coded({ blame: "host" })]],
  ["a code in lower case", ofForm, whole, [coded({ code: "Seat_taken" })]],
  ["a code of 65 characters", ofForm, whole, [coded({ code: "A".repeat(65) })]],
  ...[0, 1e9].flatMap((value): Refusal[] => [
    [`a fuel of ${value} polls`, /polls .* 1 to 20000/, whole, [changed({ fuelPolls: value })]],
    [`a deadline of ${value} ms`, /1 to 10000/, whole, [changed({ deadlineMs: value })]],
  ]),
  // Texts with characters that a model reads but a person cannot see.
  [
    "a description that reverses the text's direction",
    /U\+202E in its desc/,
    whole,
    [withTool({ description: "a\u202eb" })],
  ],
  ["a page with a zero-width space", /U\+200B in its doc/, whole, [withTool({ documentation: "a\u200bb" })]],
  ["a page with tabs", /U\+0009 in its doc/, whole, [withTool({ documentation: "a\tb" })]],
  ["a page that is empty", /"tools.0.documentation"/, whole, [withTool({ documentation: "" })]],
  ["a page of 20,000 bytes", /20000 bytes, at most 16384/, whole, [withTool({ documentation: "é".repeat(10_000) })]],
  [
    "a schema with an invisible field description",
    /"Guest" has the character U\+2063 in its input schema/,
    whole,
    [withTool({ input: { properties: { a: { description: "\u2063" } } } })],
  ],
  [
    "a schema with a field that looks like another",
    /"Guest" has the character U\+00AD in its output schema/,
    whole,
    [withTool({ output: { properties: { "na\u00adme": {} } } })],
  ],
  [
    "instructions that nobody sees",
    /U\+E0041 in its instructions/,
    whole,
    [changed({ instructions: "Use\u{e0041} it." })],
  ],
  ["instructions that are empty", /at "instructions"/, whole, [changed({ instructions: "" })]],
  ["instructions of two lines", /have a line feed/, whole, [changed({ instructions: "a\nb" })]],
  ["instructions of 1,026 bytes", /1026 bytes, at most 1024/, whole, [changed({ instructions: "é".repeat(513) })]],
];

/** Without manifests, the parts are imports of an otherwise valid guest. */
test.for(refusals)("a plugin with %s is refused", async ([, reason, parts = [], manifests]) => {
  const text = `(module ${(manifests === undefined ? [...parts, ...whole] : parts).join(" ")})`;
  await expectRefused([writePlugin("refused", text, manifests ?? [good])], reason);
});

const manifestText = JSON.stringify(good);
const sections = readSections(assembleGuest(`(module ${whole.join(" ")})`, []));
const fourBillion = encodeUnsigned(2 ** 32 - 1);

/** What is wrong with a file, the file, and why it is refused. */
type RefusedFile = readonly [name: string, bytes: Uint8Array, reason: RegExp];

const functionImport = concatBytes([named("extism:host/env"), named("alloc"), Uint8Array.of(0, 0)]);

const refusedFiles: readonly RefusedFile[] = [
  ["text", Buffer.from("not wasm"), /not a valid WebAssembly module: its first eight bytes/],
  ["another version of WebAssembly", Uint8Array.of(0, 97, 115, 109, 2, 0, 0, 0), /eight bytes/],
  ["code that no engine takes", withSection(10, Uint8Array.of(1, 2, 0, 7)), /not a valid/],
  [
    "100,000 imports",
    withSection(sectionIds.import, list(100_000, functionImport)),
    /it has 100000 imports, at most 64 allowed/,
  ],
  ["4 billion exports", withSection(sectionIds.export, fourBillion), /at most 256/],
  ["4 billion types", withSection(sectionIds.type, fourBillion), /at most 4000/],
  ["4 billion functions", withSection(sectionIds.function, fourBillion), /at most 100000/],
  ["two memories", withSection(sectionIds.memory, Uint8Array.of(2, 1, 1, 4, 1, 1, 4)), /2 memor/],
  // A 16-byte name begins here and ends in the first export that the host adds: valid again, with one entry less.
  [
    "an export that the host's additions complete",
    writeModule([
      ...sections.map((each) =>
        each.id === sectionIds.export ? { ...each, payload: concatBytes([each.payload, Uint8Array.of(16)]) } : each,
      ),
      sealed(manifestText),
    ]),
    /there is more in it than its exports/,
  ],
  [
    "a memory with a byte after it",
    withSection(sectionIds.memory, Uint8Array.of(1, 1, 1, 4, 0)),
    /there is more in it than its memories/,
  ],
  // Valid for every engine, but the host lists them one by one, which took seconds and hundreds of megabytes.
  [
    "a million globals",
    withSection(sectionIds.global, list(1_000_000, Uint8Array.of(0x7f, 1, 0x41, 0, 0x0b))),
    /it has 1000000 globals, at most 4000 allowed/,
  ],
  ["4 billion tables", withSection(sectionIds.table, fourBillion), /4294967295 tables, at most 16 /],
  ["4 billion segments", withSection(sectionIds.data, fourBillion), /at most 100000 /],
  [
    "a function of 100,000 parameters",
    withSection(sectionIds.type, concatBytes([Uint8Array.of(1, 0x60), list(100_000, Uint8Array.of(0x7f))])),
    /at most 1000 allowed/,
  ],
  [
    "an import's name of a megabyte",
    withSection(sectionIds.import, concatBytes([Uint8Array.of(1), named("x".repeat(2 ** 20))])),
    /1048576 bytes, at most 256 allowed/,
  ],
  [
    "100,000 sections",
    writeModule(Array.from({ length: 100_000 }, () => customSection("x", new Uint8Array(0)))),
    /over 64 sections/,
  ],
  ["a section longer than the file", afterHeader(Uint8Array.of(1, 127)), /it ends too early/],
  ["a number without end", afterHeader(new Uint8Array(100).fill(0x80)), /more than five bytes/],
  ["a manifest that is not JSON", withManifest("{name: guest}"), /its manifest is not JSON/],
  [
    "a manifest that is not UTF-8",
    writeModule([...sections, sealed(Uint8Array.of(34, 255, 34))]),
    /its manifest is not JSON/,
  ],
  [
    "a manifest of 10 MB",
    withManifest(manifestText + " ".repeat(10_000_000)),
    new RegExp(`its manifest is 100\\d+ bytes, at most ${pluginLimits.manifestBytesMax} allowed`),
  ],
  ["a manifest of 200,000 arrays", withManifest(deep(200_000)), /200001 levels deep, at most 64/],
  [
    "a manifest whose schema has 64 levels",
    withManifest(manifestText.replace('"input":{}', `"input":${deep(61)}`)),
    /65 levels deep/,
  ],
];

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
  const texts = manifests.map((manifest) => JSON.stringify(manifest));
  writeFileSync(file, assembleGuest(text, texts));
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

function sealed(manifest: string | Uint8Array): WasmSection {
  return customSection(manifestSection, Buffer.from(manifest));
}

function withManifest(text: string): Uint8Array {
  return writeModule([...sections, sealed(text)]);
}

/** The valid guest with one section replaced. The section comes first, where no engine would accept it. */
function withSection(id: number, payload: Uint8Array): Uint8Array {
  const others = sections.filter((section) => section.id !== id);
  return writeModule([{ id, payload }, ...others, sealed(manifestText)]);
}

function afterHeader(bytes: Uint8Array): Uint8Array {
  return concatBytes([writeModule([]), bytes]);
}

function named(text: string): Uint8Array {
  return concatBytes([encodeUnsigned(text.length), Buffer.from(text)]);
}

function list(count: number, item: Uint8Array): Uint8Array {
  return concatBytes([encodeUnsigned(count), ...Array.from({ length: count }, () => item)]);
}

function deep(levels: number): string {
  return `{"name":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}
