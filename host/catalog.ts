/**
 * The plugins a runtime has loaded, and the tools they offer. Everything about a file is checked here, before any of its
 * code runs.
 */
import { readFile, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { guestLimits } from "../shared/limits.ts";
import { manifestSchema, manifestSection } from "../shared/manifest.ts";
import type { Manifest, ManifestTool } from "../shared/manifest.ts";
import { describeMismatch } from "../shared/plugin-shape.ts";
import { readSections } from "../shared/wasm-sections.ts";
import { safeParse } from "../shared/zod.ts";
import { compileGuest } from "./guest/guest-module.ts";
import type { GuestModule } from "./guest/guest-module.ts";
import { ToolError } from "./tool-error.ts";

export interface LoadedPlugin {
  readonly manifest: Manifest;
  readonly guest: GuestModule;
}

export interface CatalogTool {
  readonly tool: ManifestTool;
  readonly moduleIndex: number;
}

export interface Catalog {
  readonly plugins: readonly LoadedPlugin[];
  readonly tools: ReadonlyMap<string, CatalogTool>;
}

/** The plugins that come with the package. */
export async function bundledPluginFiles(): Promise<string[]> {
  const folder = fileURLToPath(new URL("../plugins/", import.meta.url));
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith(".wasm"))
    .toSorted()
    .map((name) => join(folder, name));
}

/** Loads plugin files; throws `PLUGIN_REFUSED` for the first that is not what it should be. */
export async function loadCatalog(files: readonly string[]): Promise<Catalog> {
  const plugins = await Promise.all(files.map((file) => loadPlugin(file)));
  const tools = new Map<string, CatalogTool>();
  for (const [moduleIndex, { manifest }] of plugins.entries()) {
    for (const tool of manifest.tools) {
      if (tools.has(tool.name)) throw refused(manifest.name, `another plugin already offers the tool "${tool.name}"`);
      tools.set(tool.name, { tool, moduleIndex });
    }
  }
  return { plugins, tools };
}

async function loadPlugin(file: string): Promise<LoadedPlugin> {
  const name = basename(file);
  const wasm = await readPluginFile(file, name);
  const module = await WebAssembly.compile(wasm).catch((error: unknown) => {
    throw refused(name, "it is not a valid WebAssembly module", error);
  });
  const manifest = readManifest(name, module);
  const mismatch = mismatchOf(manifest, module, wasm);
  if (mismatch) throw refused(name, mismatch);
  return { manifest, guest: await compileGuest(wasm, manifest.memoryPages.max) };
}

function mismatchOf(manifest: Manifest, module: WebAssembly.Module, wasm: Uint8Array): string | null {
  try {
    const imports = WebAssembly.Module.imports(module);
    const exports = WebAssembly.Module.exports(module);
    return describeMismatch(manifest, { imports, exports, sections: readSections(wasm) });
  } catch (error) {
    return error instanceof RangeError ? error.message : "its sections cannot be read";
  }
}

async function readPluginFile(file: string, name: string): Promise<Uint8Array> {
  const wasm = await readFile(file).catch((error: unknown) => {
    throw refused(name, "it cannot be read", error);
  });
  if (wasm.length > guestLimits.pluginBytesMax) {
    throw refused(name, `it is ${wasm.length} bytes, at most ${guestLimits.pluginBytesMax} allowed`);
  }
  return wasm;
}

function readManifest(name: string, module: WebAssembly.Module): Manifest {
  const [section, ...others] = WebAssembly.Module.customSections(module, manifestSection);
  if (!section || others.length > 0) throw refused(name, `it has not exactly one custom section "${manifestSection}"`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(section));
  } catch (error) {
    throw refused(name, "its manifest is not JSON", error);
  }
  const parsed = safeParse(manifestSchema, value);
  if (!parsed.success) throw refused(name, "its manifest has not the form that ABI version 1 gives it", parsed.error);
  return parsed.data;
}

function refused(name: string, reason: string, cause?: unknown): ToolError {
  return new ToolError("PLUGIN_REFUSED", `Cannot load plugin "${name}": ${reason}`, { cause });
}
