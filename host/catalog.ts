/**
 * The plugins a runtime has loaded, and the tools they offer. Everything about a file is checked here, before any of its
 * code runs.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { guestLimits, pluginLimits } from "../shared/limits.ts";
import { manifestSchema, manifestSection } from "../shared/manifest.ts";
import type { Manifest, ManifestTool } from "../shared/manifest.ts";
import { describeEarlyMismatch, describeMismatch } from "../shared/plugin-shape.ts";
import { jsonDepth, quoted } from "../shared/text.ts";
import { customSections, readSections, UnreadableWasm } from "../shared/wasm-sections.ts";
import type { WasmSection } from "../shared/wasm-sections.ts";
import { safeParse } from "../shared/zod.ts";
import { compileGuest } from "./guest/guest-module.ts";
import type { GuestModule } from "./guest/guest-module.ts";
import { listPluginFiles, readPluginFile } from "./plugin-file.ts";
import { policyDeviations } from "./policy/policy-deviations.ts";
import type { Policy } from "./policy/policy.ts";
import { ToolError } from "./tool-error.ts";

export interface LoadedPlugin {
  readonly manifest: Manifest;
  /** Of the whole file, in hex. */
  readonly sha256: string;
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
export function bundledPluginFiles(): Promise<string[]> {
  return listPluginFiles(fileURLToPath(new URL("../plugins/", import.meta.url)));
}

/** Loads plugin files; throws `PLUGIN_REFUSED` for the first that is not what it should be, or asks for too much. */
export async function loadCatalog(files: readonly string[], policy: Policy): Promise<Catalog> {
  const plugins = await Promise.all(files.map((file) => loadPlugin(file, policy)));
  const tools = new Map<string, CatalogTool>();
  for (const [moduleIndex, { manifest }] of plugins.entries()) {
    for (const tool of manifest.tools) {
      if (tools.has(tool.name)) throw refused(manifest.name, `another plugin already offers the tool "${tool.name}"`);
      tools.set(tool.name, { tool, moduleIndex });
    }
  }
  return { plugins, tools };
}

async function loadPlugin(file: string, policy: Policy): Promise<LoadedPlugin> {
  const name = basename(file);
  const wasm = await readBytes(file, name);
  const { manifest, sections } = readPlugin(name, wasm);
  const sha256 = createHash("sha256").update(wasm).digest("hex");
  const [deviation] = policyDeviations(manifest, sha256, policy);
  if (deviation !== undefined) throw refused(name, deviation);
  const bounds = { memoryPagesMax: policy.limits.memoryPages, fuelPollsMax: manifest.fuelPolls };
  const guest = await compileGuest(wasm, bounds).catch((error: unknown) => {
    if (error instanceof UnreadableWasm) throw refused(name, error.message);
    throw refused(name, "it is not a valid WebAssembly module", error);
  });
  // What runs is the engine's reading of the file. Where it differs from ours, ours has judged something else.
  const imports = WebAssembly.Module.imports(guest.module);
  const ofHost = new Set(guest.stateExports);
  const exports = WebAssembly.Module.exports(guest.module).filter((each) => !ofHost.has(each.name));
  const mismatch = describeMismatch(manifest, { imports, exports, sections });
  if (mismatch) throw refused(name, mismatch);
  return { manifest, sha256, guest };
}

async function readBytes(file: string, name: string): Promise<Uint8Array> {
  const read = await readPluginFile(file, guestLimits.pluginBytesMax).catch((error: unknown) => {
    throw refused(name, "it cannot be read", error);
  });
  if (read.kind === "unfit") throw refused(name, read.reason);
  return read.wasm;
}

/** Everything that can be told without an engine. */
function readPlugin(name: string, wasm: Uint8Array): { manifest: Manifest; sections: WasmSection[] } {
  try {
    const sections = readSections(wasm);
    const manifest = readManifest(name, sections);
    const mismatch = describeEarlyMismatch(manifest, sections);
    if (mismatch) throw refused(name, mismatch);
    return { manifest, sections };
  } catch (error) {
    throw error instanceof UnreadableWasm ? refused(name, error.message) : error;
  }
}

function readManifest(name: string, sections: readonly WasmSection[]): Manifest {
  const [section, ...others] = customSections(sections, manifestSection);
  if (!section || others.length > 0) throw refused(name, `it has not exactly one custom section "${manifestSection}"`);
  const { manifestBytesMax } = pluginLimits;
  if (section.length > manifestBytesMax) {
    throw refused(name, `its manifest is ${section.length} bytes, at most ${manifestBytesMax} allowed`);
  }
  const parsed = safeParse(manifestSchema, parseManifest(name, section));
  if (!parsed.success) throw refused(name, "its manifest has not the form that ABI version 1 gives it", parsed.error);
  return parsed.data;
}

function parseManifest(name: string, section: Uint8Array): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(section);
    const depth = jsonDepth(text);
    if (depth <= pluginLimits.manifestDepthMax) return JSON.parse(text);
    throw refused(name, `its manifest is ${depth} levels deep, at most ${pluginLimits.manifestDepthMax} allowed`);
  } catch (error) {
    throw error instanceof ToolError ? error : refused(name, "its manifest is not JSON", error);
  }
}

function refused(name: string, reason: string, cause?: unknown): ToolError {
  return new ToolError("PLUGIN_REFUSED", `Cannot load plugin ${quoted(name)}: ${reason}`, { cause });
}
