/** Files that are not plugins, or exceed a limit, and the reason for each refusal. */
import { readFileSync } from "node:fs";

import { pluginLimits } from "../../shared/limits.ts";
import { manifestSection } from "../../shared/manifest.ts";
import type { Manifest } from "../../shared/manifest.ts";
import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { concatBytes, customSection, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { withTool } from "../support/reseal-plugin.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { guestText } from "../support/write-guest.ts";
import { unseenWords } from "./unseen-words.ts";

const manifest: string = JSON.stringify(guestManifest("guest", { Guest: "guest" }));
const plain = '(module (memory (export "memory") 1 4) (func (export "guest") (result i32) (i32.const 0)))';
const good = readSections(assembleGuest(plain, []));
const shipped = readFileSync(shippedPlugin("user-memory"));

/** The complete, valid guest. */
export const goodFile: Uint8Array = writeModule([...good, sealed(manifest)]);

/**
 * Complete plugins. Those with the manifest in front lose another section first when they are cut off. They have no
 * other custom sections, because a file that lacks one at its end is still valid.
 */
export const wholeFiles: readonly { readonly name: string; readonly wasm: Uint8Array }[] = [
  { name: "a small guest with the manifest in front", wasm: writeModule([sealed(manifest), ...good]) },
  { name: "the shipped plugin with the manifest in front", wasm: writeModule(manifestFirst(readSections(shipped))) },
  { name: "the shipped plugin", wasm: shipped },
];

export interface RefusedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly reason: RegExp;
}

const functionImport = concatBytes([name("extism:host/env"), name("alloc"), Uint8Array.of(0, 0)]);

export const refusedFiles: readonly RefusedFile[] = [
  { name: "text", bytes: Buffer.from("not wasm"), reason: /not a valid WebAssembly module: its first eight bytes/ },
  { name: "nothing", bytes: new Uint8Array(0), reason: /not a valid WebAssembly module/ },
  { name: "garbage", bytes: randomBytes(5_000), reason: /not a valid WebAssembly module/ },
  { name: "the header and garbage", bytes: afterHeader(randomBytes(5_000)), reason: /Cannot load plugin/ },
  { name: "the header alone", bytes: writeModule([]), reason: /exactly one custom section/ },
  { name: "another version of WebAssembly", bytes: Uint8Array.of(0, 97, 115, 109, 2, 0, 0, 0), reason: /eight bytes/ },
  { name: "half a plugin", bytes: shipped.subarray(0, 100_000), reason: /it ends too early/ },
  { name: "code that no engine takes", bytes: withSection(10, Uint8Array.of(1, 2, 0, 7)), reason: /not a valid/ },
  {
    name: "100,000 imports",
    bytes: withSection(sectionIds.import, list(100_000, functionImport)),
    reason: /it has 100000 imports, at most 64 allowed/,
  },
  { name: "4 billion imports", bytes: withSection(sectionIds.import, claimed(2 ** 32 - 1)), reason: /at most 64/ },
  { name: "4 billion exports", bytes: withSection(sectionIds.export, claimed(2 ** 32 - 1)), reason: /at most 256/ },
  { name: "4 billion types", bytes: withSection(sectionIds.type, claimed(2 ** 32 - 1)), reason: /at most 4000/ },
  {
    name: "4 billion functions",
    bytes: withSection(sectionIds.function, claimed(2 ** 32 - 1)),
    reason: /at most 100000/,
  },
  { name: "4 billion memories", bytes: withSection(sectionIds.memory, claimed(2 ** 32 - 1)), reason: /at most 1 / },
  {
    name: "two memories",
    bytes: withSection(sectionIds.memory, Uint8Array.of(2, 1, 1, 4, 1, 1, 4)),
    reason: /2 memor/,
  },
  {
    // A 16-byte name begins here and ends in the first export that the host adds: valid again, with one entry less.
    name: "an export that the host's additions complete",
    bytes: writeModule([
      ...good.map((each) => (each.id === sectionIds.export ? { ...each, payload: trailed(each.payload, 16) } : each)),
      sealed(manifest),
    ]),
    reason: /there is more in it than its exports/,
  },
  {
    name: "a memory with a byte after it",
    bytes: withSection(sectionIds.memory, Uint8Array.of(1, 1, 1, 4, 0)),
    reason: /there is more in it than its memories/,
  },
  {
    // Valid for every engine, but the host lists them one by one, which took seconds and hundreds of megabytes.
    name: "a million globals",
    bytes: withSection(sectionIds.global, list(1_000_000, Uint8Array.of(0x7f, 1, 0x41, 0, 0x0b))),
    reason: /it has 1000000 globals, at most 4000 allowed/,
  },
  {
    name: "4 billion tables",
    bytes: withSection(sectionIds.table, claimed(2 ** 32 - 1)),
    reason: /4294967295 tables, at most 16 /,
  },
  { name: "4 billion segments", bytes: withSection(sectionIds.data, claimed(2 ** 32 - 1)), reason: /at most 100000 / },
  {
    name: "a function of 100,000 parameters",
    bytes: withSection(sectionIds.type, concatBytes([Uint8Array.of(1, 0x60), list(100_000, Uint8Array.of(0x7f))])),
    reason: /at most 1000 allowed/,
  },
  {
    name: "an import's name of a megabyte",
    bytes: withSection(sectionIds.import, concatBytes([Uint8Array.of(1), name("x".repeat(2 ** 20))])),
    reason: /1048576 bytes, at most 256 allowed/,
  },
  {
    name: "100,000 sections",
    bytes: writeModule(Array.from({ length: 100_000 }, () => customSection("x", new Uint8Array(0)))),
    reason: /over 64 sections/,
  },
  { name: "a section longer than the file", bytes: afterHeader(Uint8Array.of(1, 127)), reason: /it ends too early/ },
  {
    name: "a number without end",
    bytes: afterHeader(new Uint8Array(100).fill(0x80)),
    reason: /more than five bytes/,
  },
  { name: "an empty manifest", bytes: withManifests(""), reason: /its manifest is not JSON/ },
  { name: "a manifest that is not JSON", bytes: withManifests("{name: guest}"), reason: /its manifest is not JSON/ },
  { name: "two JSON texts", bytes: withManifests(manifest + manifest), reason: /its manifest is not JSON/ },
  { name: "two manifests", bytes: withManifests(manifest, manifest), reason: /exactly one custom section/ },
  {
    name: "a manifest that is not UTF-8",
    bytes: writeModule([...good, customSection(manifestSection, Uint8Array.of(34, 255, 34))]),
    reason: /its manifest is not JSON/,
  },
  {
    name: "a manifest of 10 MB",
    bytes: withManifests(manifest + " ".repeat(10_000_000)),
    reason: new RegExp(`its manifest is 100\\d+ bytes, at most ${pluginLimits.manifestBytesMax} allowed`),
  },
  {
    name: "a manifest of 200,000 arrays",
    bytes: withManifests(deep(200_000)),
    reason: /200001 levels deep, at most 64/,
  },
  {
    name: "a manifest whose schema has 64 levels",
    bytes: withManifests(manifest.replace('"input":{}', `"input":${deep(61)}`)),
    reason: /65 levels deep/,
  },
  ...unseenWords.map(({ what, changes, reason }) => ({
    name: what,
    bytes: withManifests(JSON.stringify(withTool(JSON.parse(manifest) as Manifest, "Guest", changes))),
    reason,
  })),
  {
    name: "instructions that nobody sees",
    bytes: instructing("Use\u{e0041} it."),
    reason: /U\+E0041 in its instructions/,
  },
  { name: "instructions that are empty", bytes: instructing(""), reason: /at "instructions"/ },
  { name: "instructions of two lines", bytes: instructing("a\nb"), reason: /have a line feed, allowed is one line/ },
  { name: "instructions of 1,026 bytes", bytes: instructing("é".repeat(513)), reason: /1026 bytes, at most 1024/ },
  { name: "a manifest without fuel", bytes: withManifests(changed({ fuelPolls: 0 })), reason: /0 polls .* 1 to 20000/ },
  { name: "a manifest with all fuel", bytes: withManifests(changed({ fuelPolls: 1e9 })), reason: /1 to 20000/ },
  { name: "a manifest without deadline", bytes: withManifests(changed({ deadlineMs: 0 })), reason: /deadline of 0 ms/ },
  { name: "a manifest with a late deadline", bytes: withManifests(changed({ deadlineMs: 1e9 })), reason: /1 to 10000/ },
  { name: "a start function that spins", bytes: assembled("start-spinner"), reason: /it has a start function/ },
  { name: "a memory without maximum", bytes: assembled("unlimited"), reason: /1 to unlimited pages/ },
  { name: "no export of the tool's name", bytes: assembled("mute"), reason: /exports function "other"/ },
  {
    name: "an import that nobody declared",
    bytes: assembled("undeclared"),
    reason: /"extism:host\/user" "store_write"/,
  },
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

function assembled(guest: string): Uint8Array {
  return assembleGuest(guestText(guest), [manifest]);
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
