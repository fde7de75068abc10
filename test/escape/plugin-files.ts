/** Files that are not plugins, or exceed a limit, and the reason for each refusal. */
import { readFileSync } from "node:fs";

import { pluginLimits } from "../../shared/limits.ts";
import { manifestSection } from "../../shared/manifest.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { concatBytes, customSection, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { withTool } from "../support/reseal-plugin.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const manifest: string = JSON.stringify(guestManifest("guest", { Guest: "guest" }));
const plain = '(module (memory (export "memory") 1 4) (func (export "guest") (result i32) (i32.const 0)))';
const good = readSections(assembleGuest(plain, []));
const shipped = readFileSync(shippedPlugin("user-memory"));

/**
 * Complete plugins. Those with the manifest in front lose another section first when they are cut off. They have no
 * other custom sections, because a file that lacks one at its end is still valid.
 */
export const wholeFiles: readonly { readonly name: string; readonly wasm: Uint8Array }[] = [
  { name: "a small guest with the manifest in front", wasm: writeModule([sealed(manifest), ...good]) },
  { name: "the shipped plugin with the manifest in front", wasm: writeModule(manifestFirst(readSections(shipped))) },
  { name: "the shipped plugin", wasm: shipped },
];

/** What is wrong with a file, the file, and why it is refused. */
export type RefusedFile = readonly [name: string, bytes: Uint8Array, reason: RegExp];

const functionImport = concatBytes([name("extism:host/env"), name("alloc"), Uint8Array.of(0, 0)]);

/** Texts with characters that a model reads but a person cannot see. */
const unseen: readonly (readonly [name: string, changes: Partial<ManifestTool>, reason: RegExp])[] = [
  ["a description that reverses the text's direction", { description: "a\u202eb" }, /character U\+202E in its desc/],
  ["a page with a zero-width space", { documentation: "a\u200bb" }, /character U\+200B in its doc/],
  ["a page with tabs", { documentation: "a\tb" }, /character U\+0009 in its doc/],
  ["a page that is empty", { documentation: "" }, /"tools.0.documentation"/],
  ["a page of 20,000 bytes", { documentation: "é".repeat(10_000) }, /20000 bytes, at most 16384/],
  [
    "a schema with an invisible field description",
    { input: { properties: { a: { description: "\u2063" } } } },
    /"Guest" has the character U\+2063 in its input schema/,
  ],
  [
    "a schema with a field that looks like another",
    { output: { properties: { "na\u00adme": {} } } },
    /"Guest" has the character U\+00AD in its output schema/,
  ],
];

export const refusedFiles: readonly RefusedFile[] = [
  ["text", Buffer.from("not wasm"), /not a valid WebAssembly module: its first eight bytes/],
  ["nothing", new Uint8Array(0), /not a valid WebAssembly module/],
  ["the header and garbage", afterHeader(randomBytes(5_000)), /Cannot load plugin/],
  ["another version of WebAssembly", Uint8Array.of(0, 97, 115, 109, 2, 0, 0, 0), /eight bytes/],
  ["half a plugin", shipped.subarray(0, 100_000), /it ends too early/],
  ["code that no engine takes", withSection(10, Uint8Array.of(1, 2, 0, 7)), /not a valid/],
  [
    "100,000 imports",
    withSection(sectionIds.import, list(100_000, functionImport)),
    /it has 100000 imports, at most 64 allowed/,
  ],
  ["4 billion imports", withSection(sectionIds.import, claimed(2 ** 32 - 1)), /at most 64/],
  ["4 billion exports", withSection(sectionIds.export, claimed(2 ** 32 - 1)), /at most 256/],
  ["4 billion types", withSection(sectionIds.type, claimed(2 ** 32 - 1)), /at most 4000/],
  ["4 billion functions", withSection(sectionIds.function, claimed(2 ** 32 - 1)), /at most 100000/],
  ["two memories", withSection(sectionIds.memory, Uint8Array.of(2, 1, 1, 4, 1, 1, 4)), /2 memor/],
  // A 16-byte name begins here and ends in the first export that the host adds: valid again, with one entry less.
  [
    "an export that the host's additions complete",
    writeModule([
      ...good.map((each) => (each.id === sectionIds.export ? { ...each, payload: trailed(each.payload, 16) } : each)),
      sealed(manifest),
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
  ["4 billion tables", withSection(sectionIds.table, claimed(2 ** 32 - 1)), /4294967295 tables, at most 16 /],
  ["4 billion segments", withSection(sectionIds.data, claimed(2 ** 32 - 1)), /at most 100000 /],
  [
    "a function of 100,000 parameters",
    withSection(sectionIds.type, concatBytes([Uint8Array.of(1, 0x60), list(100_000, Uint8Array.of(0x7f))])),
    /at most 1000 allowed/,
  ],
  [
    "an import's name of a megabyte",
    withSection(sectionIds.import, concatBytes([Uint8Array.of(1), name("x".repeat(2 ** 20))])),
    /1048576 bytes, at most 256 allowed/,
  ],
  [
    "100,000 sections",
    writeModule(Array.from({ length: 100_000 }, () => customSection("x", new Uint8Array(0)))),
    /over 64 sections/,
  ],
  ["a section longer than the file", afterHeader(Uint8Array.of(1, 127)), /it ends too early/],
  ["a number without end", afterHeader(new Uint8Array(100).fill(0x80)), /more than five bytes/],
  ["a manifest that is not JSON", withManifests("{name: guest}"), /its manifest is not JSON/],
  [
    "a manifest that is not UTF-8",
    writeModule([...good, customSection(manifestSection, Uint8Array.of(34, 255, 34))]),
    /its manifest is not JSON/,
  ],
  [
    "a manifest of 10 MB",
    withManifests(manifest + " ".repeat(10_000_000)),
    new RegExp(`its manifest is 100\\d+ bytes, at most ${pluginLimits.manifestBytesMax} allowed`),
  ],
  ["a manifest of 200,000 arrays", withManifests(deep(200_000)), /200001 levels deep, at most 64/],
  [
    "a manifest whose schema has 64 levels",
    withManifests(manifest.replace('"input":{}', `"input":${deep(61)}`)),
    /65 levels deep/,
  ],
  ...unseen.map(([what, changes, reason]): RefusedFile => {
    return [what, withManifests(JSON.stringify(withTool(JSON.parse(manifest) as Manifest, "Guest", changes))), reason];
  }),
  ["instructions that nobody sees", instructing("Use\u{e0041} it."), /U\+E0041 in its instructions/],
  ["instructions that are empty", instructing(""), /at "instructions"/],
  ["instructions of two lines", instructing("a\nb"), /have a line feed, allowed is one line/],
  ["instructions of 1,026 bytes", instructing("é".repeat(513)), /1026 bytes, at most 1024/],
  ["a manifest without fuel", withManifests(changed({ fuelPolls: 0 })), /0 polls .* 1 to 20000/],
  ["a manifest with all fuel", withManifests(changed({ fuelPolls: 1e9 })), /1 to 20000/],
  ["a manifest without deadline", withManifests(changed({ deadlineMs: 0 })), /deadline of 0 ms/],
  ["a manifest with a late deadline", withManifests(changed({ deadlineMs: 1e9 })), /1 to 10000/],
];

function sealed(text: string): WasmSection {
  return customSection(manifestSection, new TextEncoder().encode(text));
}

function withManifests(...texts: string[]): Uint8Array {
  return writeModule([...good, ...texts.map((text) => sealed(text))]);
}

function changed(changes: Partial<Manifest>): string {
  return JSON.stringify({ ...JSON.parse(manifest), ...changes });
}

function instructing(instructions: string): Uint8Array {
  return withManifests(changed({ instructions }));
}

/** The valid guest with one section replaced. The section comes first, where no engine would accept it. */
function withSection(id: number, payload: Uint8Array): Uint8Array {
  const others = good.filter((section) => section.id !== id);
  return writeModule([{ id, payload }, ...others, sealed(manifest)]);
}

function trailed(payload: Uint8Array, byte: number): Uint8Array {
  return concatBytes([payload, Uint8Array.of(byte)]);
}

function afterHeader(bytes: Uint8Array): Uint8Array {
  return concatBytes([writeModule([]), bytes]);
}

function randomBytes(count: number): Uint8Array {
  const random = seededRandom(count);
  return Uint8Array.from({ length: count }, () => random() * 256);
}

function name(text: string): Uint8Array {
  return concatBytes([encodeUnsigned(text.length), Buffer.from(text)]);
}

function list(count: number, item: Uint8Array): Uint8Array {
  return concatBytes([encodeUnsigned(count), ...Array.from({ length: count }, () => item)]);
}

function claimed(count: number): Uint8Array {
  return encodeUnsigned(count);
}

function deep(levels: number): string {
  return `{"name":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

function manifestFirst(sections: readonly WasmSection[]): WasmSection[] {
  return [...sections.filter(isManifest), ...sections.filter(({ id }) => id !== sectionIds.custom)];
}

function isManifest({ id, payload }: WasmSection): boolean {
  return id === sectionIds.custom && Buffer.from(payload).includes(manifestSection);
}
