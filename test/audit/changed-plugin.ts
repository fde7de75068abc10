/** Ways to change the shipped plugin `user-memory`. */
import { readFileSync } from "node:fs";

import { manifestSection } from "../../shared/manifest.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { concatBytes, customSection, encodeUnsigned, writeModule } from "../../shared/wasm-writer.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

export const shippedBytes: Uint8Array = Uint8Array.from(readFileSync(shippedPlugin("user-memory")));
export const sections: readonly WasmSection[] = readSections(shippedBytes);
export const shippedManifest: Manifest = manifestOf(shippedBytes);

const isManifest = ({ id, payload }: WasmSection): boolean =>
  id === sectionIds.custom && Buffer.from(payload).subarray(0, 32).includes(manifestSection);
export const manifestSections: readonly WasmSection[] = sections.filter(isManifest);
export const otherSections: readonly WasmSection[] = sections.filter((each) => !isManifest(each));

/** With another text as its manifest, and more sections before it. */
export function withManifest(text: string, ...more: readonly WasmSection[]): Uint8Array {
  return writeModule([...otherSections, ...more, customSection(manifestSection, Buffer.from(text))]);
}

/** With an edited manifest. */
export function resealed(changes: Partial<Manifest>): Uint8Array {
  return withManifest(JSON.stringify({ ...shippedManifest, ...changes }));
}

export function withTool(name: string, changes: Partial<ManifestTool>): Uint8Array {
  return resealed({
    tools: shippedManifest.tools.map((tool) => (tool.name === name ? { ...tool, ...changes } : tool)),
  });
}

export function everyTool(changes: Partial<ManifestTool>): ManifestTool[] {
  return shippedManifest.tools.map((tool) => Object.assign({}, tool, changes));
}

/** With each section of this kind changed. */
export function mapped(id: number, change: (payload: Uint8Array) => Uint8Array, from = sections): Uint8Array {
  return writeModule(from.map((each) => (each.id === id ? { id, payload: change(each.payload.slice()) } : each)));
}

/** A counted list with an entry appended. Each list has fewer than 128 entries, so the count is one byte. */
export function listed(payload: Uint8Array, names: readonly string[], description: readonly number[]): Uint8Array {
  const texts = names.flatMap((name) => [encodeUnsigned(name.length), Buffer.from(name, "latin1")]);
  return concatBytes([
    Uint8Array.of((payload[0] ?? 0) + 1),
    payload.subarray(1),
    ...texts,
    Uint8Array.from(description),
  ]);
}

/** Imports another function with a capability's type. This shifts function numbers, so code that calls by number is wrong. */
export function imported(module: string, name: string, from = sections): Uint8Array {
  const added = (payload: Uint8Array): Uint8Array => {
    const text = Buffer.from(payload).toString("latin1");
    const type = payload[text.indexOf("store_read") + "store_read".length + 1] ?? 0;
    return listed(payload, [module, name], [0, type]);
  };
  return mapped(sectionIds.import, added, from);
}
