/**
 * Step 6: adds the manifest to the module as a custom section, and checks that the module matches it. Hosts make the
 * same check before they run a plugin.
 */
import { createHash } from "node:crypto";

import { fuelSection, readFuelGlobal } from "../shared/fuel-section.ts";
import { defaultBudget, manifestSchema, manifestSection } from "../shared/manifest.ts";
import type { Family, Manifest, ManifestTool } from "../shared/manifest.ts";
import { describeMismatch } from "../shared/plugin-shape.ts";
import { neededAbi } from "../shared/plugin-stores.ts";
import { readSections } from "../shared/wasm-sections.ts";
import type { MemoryLimits, WasmSection } from "../shared/wasm-sections.ts";
import { customSection, writeModule } from "../shared/wasm-writer.ts";
import { safeParse } from "../shared/zod.ts";
import { takeExports } from "./export-section.ts";
import { jsonSchema } from "./json-schema.ts";

export interface SealedPlugin {
  readonly wasm: Uint8Array;
  readonly manifest: Manifest;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
}

export function makeManifest(family: Family, memoryPages: MemoryLimits & { max: number }): Manifest {
  return {
    name: family.name,
    version: family.version,
    ...(family.instructions !== undefined && { instructions: family.instructions }),
    abi: neededAbi(family.tools),
    tools: family.tools.map(toolManifest),
    ...(family.errors && { errors: [...family.errors] }),
    memoryPages,
    ...defaultBudget,
  };
}

function toolManifest(declared: Family["tools"][number]): ManifestTool {
  const { exactInput: _, input, output, scopes, rights, ...tool } = declared;
  return {
    ...tool,
    input: jsonSchema(input, "input"),
    output: jsonSchema(output, "output"),
    scopes: [...scopes],
    rights: [...rights],
  };
}

export async function sealPlugin(linked: Uint8Array, manifest: Manifest): Promise<SealedPlugin> {
  checkForm(manifest);
  const content = new TextEncoder().encode(JSON.stringify(manifest));
  const { sections, fuel } = withoutFuelExport(readSections(linked));
  const wasm = writeModule([...sections, customSection(fuelSection, fuel), customSection(manifestSection, content)]);
  const module = await WebAssembly.compile(wasm);
  const mismatch = describeMismatch(manifest, {
    imports: WebAssembly.Module.imports(module),
    exports: WebAssembly.Module.exports(module),
    sections: readSections(wasm),
  });
  readFuelGlobal(readSections(wasm));
  if (mismatch) throw new Error(`Cannot seal plugin "${manifest.name}": ${mismatch}`);
  return { wasm, manifest, sha256: createHash("sha256").update(wasm).digest("hex") };
}

/** Checks names and other forms that the TypeScript types do not express. */
function checkForm(manifest: Manifest): void {
  const parsed = safeParse(manifestSchema, manifest);
  if (parsed.success) return;
  const places = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new Error(
    `Cannot seal plugin "${manifest.name}": its manifest does not have the form of ABI version 1 or 2, at ${places}`,
  );
}

/**
 * Removes the export of the global that counts polls: only the memory and the tools are exports. `fuel` is the global's
 * index, by which a host finds it through the custom section.
 */
function withoutFuelExport(sections: readonly WasmSection[]): { sections: WasmSection[]; fuel: Uint8Array } {
  const { sections: kept, taken } = takeExports(sections, ({ name }) => name === fuelSection);
  const [fuel] = taken;
  if (!fuel) throw new Error(`Cannot seal a plugin: no export is called "${fuelSection}"`);
  return { sections: kept, fuel: fuel.index };
}
