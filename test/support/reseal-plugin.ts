import { manifestSection } from "../../shared/manifest.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { customSections, readSections, sectionIds } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";

/** The manifest sealed into a plugin. */
export function manifestOf(wasm: Uint8Array): Manifest {
  const [section] = customSections(readSections(wasm), manifestSection);
  return JSON.parse(new TextDecoder().decode(section)) as Manifest;
}

/** A plugin with the same code and a different manifest. */
export function resealPlugin(wasm: Uint8Array, manifest: Manifest): Uint8Array {
  const others = readSections(wasm).filter(
    ({ id, payload }) => id !== sectionIds.custom || !Buffer.from(payload).includes(manifestSection),
  );
  return writeModule([...others, customSection(manifestSection, new TextEncoder().encode(JSON.stringify(manifest)))]);
}

/** A manifest with one tool changed. */
export function withTool(manifest: Manifest, name: string, changes: Partial<ManifestTool>): Manifest {
  return { ...manifest, tools: manifest.tools.map((tool) => (tool.name === name ? { ...tool, ...changes } : tool)) };
}
