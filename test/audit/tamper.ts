/** Ways to change the shipped plugin. */
import { readFileSync } from "node:fs";

import { manifestSection, manifestSchema } from "../../shared/manifest.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { customSections, readSections, sectionIds } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { concatBytes, customSection, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";
import { safeParse } from "../../shared/zod.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

export const shippedBytes: Uint8Array = Uint8Array.from(readFileSync(shippedPlugin("user-memory")));
export const sections: readonly WasmSection[] = readSections(shippedBytes);
const [sealed = new Uint8Array()] = customSections(sections, manifestSection);
const parsed = safeParse(manifestSchema, JSON.parse(new TextDecoder().decode(sealed)));
if (!parsed.success) throw new Error("The shipped plugin has no manifest");
export const shippedManifest: Manifest = parsed.data;

export function mapped(id: number, change: (payload: Uint8Array) => Uint8Array): Uint8Array {
  return writeModule(sections.map((each) => (each.id === id ? { id, payload: change(each.payload.slice()) } : each)));
}

export function flipped(payload: Uint8Array, at: number): Uint8Array {
  payload[at] = (payload[at] ?? 0) ^ 0x01;
  return payload;
}

/** A counted list with entries appended. Each list has fewer than 128 entries, so the count is one byte. */
export function listed(payload: Uint8Array, ...entries: readonly Uint8Array[]): Uint8Array {
  return concatBytes([Uint8Array.of((payload[0] ?? 0) + entries.length), payload.subarray(1), ...entries]);
}

/**
 * Imports another function with a capability's type. This shifts function numbers, so code that calls by number is
 * wrong.
 */
export function imported(module: string, name: string): Uint8Array {
  return mapped(sectionIds.import, (payload) =>
    listed(payload, importEntry(module, name, [0, capabilityType(payload)])),
  );
}

/** The number of the capabilities' type: the last byte of the import entry. */
function capabilityType(payload: Uint8Array): number {
  const text = Buffer.from(payload).toString("latin1");
  return payload[text.indexOf("store_read") + "store_read".length + 1] ?? 0;
}

export function importEntry(module: string, name: string, description: readonly number[]): Uint8Array {
  return concatBytes([named(module), named(name), Uint8Array.from(description)]);
}

export function exportEntry(name: string, description: readonly number[]): Uint8Array {
  return concatBytes([named(name), Uint8Array.from(description)]);
}

function named(text: string): Uint8Array {
  return concatBytes([encodeUnsigned(text.length), Buffer.from(text, "latin1")]);
}

/** The plugin with its manifest's text rewritten. */
export function rewritten(change: (manifest: string) => string): Uint8Array {
  const manifest = change(new TextDecoder().decode(sealed));
  return writeModule([
    ...sections.filter((each) => !isManifest(each)),
    customSection(manifestSection, Buffer.from(manifest)),
  ]);
}

export function isManifest({ id, payload }: WasmSection): boolean {
  return id === sectionIds.custom && Buffer.from(payload).subarray(0, 32).includes(manifestSection);
}

export function manifestOf(changes: Partial<Manifest>): WasmSection {
  return customSection(manifestSection, Buffer.from(JSON.stringify({ ...shippedManifest, ...changes })));
}

/** The shipped plugin with an edited manifest. */
export function resealed(changes: Partial<Manifest>): Uint8Array {
  return writeModule([...sections.filter((each) => !isManifest(each)), manifestOf(changes)]);
}

export function changedTool(name: string, changes: Partial<ManifestTool>): ManifestTool[] {
  return shippedManifest.tools.map((tool) => (tool.name === name ? { ...tool, ...changes } : tool));
}

export function everyTool(changes: Partial<ManifestTool>): ManifestTool[] {
  return shippedManifest.tools.map((tool) => Object.assign({}, tool, changes));
}

export function without(tool: ManifestTool, right: ManifestTool["rights"][number]): ManifestTool {
  return { ...tool, rights: tool.rights.filter((each) => each !== right) };
}

/** The plugin with extra custom sections before the manifest. */
export function withCustomSections(...names: readonly string[]): Uint8Array {
  const added = names.map((name) => customSection(name, Uint8Array.of(1, 2, 3)));
  return writeModule([...sections.filter((each) => !isManifest(each)), ...added, ...sections.filter(isManifest)]);
}
