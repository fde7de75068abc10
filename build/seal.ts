/**
 * Step 6. The manifest into the module as a custom section, and a check that the result is what the manifest says:
 * the same check that every host makes before it runs a plugin.
 */
import { createHash } from "node:crypto";

import { abiVersion } from "../shared/abi.ts";
import { defaultBudget, manifestSection } from "../shared/manifest.ts";
import type { Family, Manifest } from "../shared/manifest.ts";
import { describeMismatch } from "../shared/plugin-shape.ts";
import { readSections } from "../shared/wasm-sections.ts";
import type { MemoryLimits } from "../shared/wasm-sections.ts";
import { customSection, writeModule } from "../shared/wasm-writer.ts";
import * as z from "../shared/zod.ts";

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
    abi: abiVersion,
    tools: family.tools.map(({ input, output, scopes, rights, ...tool }) => ({
      ...tool,
      input: jsonSchema(input, "input"),
      output: jsonSchema(output, "output"),
      scopes: [...scopes],
      rights: [...rights],
    })),
    memoryPages,
    ...defaultBudget,
  };
}

function jsonSchema(schema: z.ZodMiniType, io: "input" | "output"): Record<string, unknown> {
  const { "~standard": _, ...plain } = z.toJSONSchema(schema, { io, target: "draft-2020-12" });
  return plain;
}

export async function sealPlugin(linked: Uint8Array, manifest: Manifest): Promise<SealedPlugin> {
  const content = new TextEncoder().encode(JSON.stringify(manifest));
  const wasm = writeModule([...readSections(linked), customSection(manifestSection, content)]);
  const module = await WebAssembly.compile(wasm);
  const mismatch = describeMismatch(manifest, {
    imports: WebAssembly.Module.imports(module),
    exports: WebAssembly.Module.exports(module),
    sections: readSections(wasm),
  });
  if (mismatch) throw new Error(`Cannot seal plugin "${manifest.name}": ${mismatch}`);
  return { wasm, manifest, sha256: createHash("sha256").update(wasm).digest("hex") };
}
