import { pluginLimits } from "../../../shared/limits.ts";
import { manifestSchema, manifestSection } from "../../../shared/manifest.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { quoted } from "../../../shared/text.ts";
import { customSections } from "../../../shared/wasm-sections.ts";
import type { WasmSection } from "../../../shared/wasm-sections.ts";
import { safeParse } from "../../../shared/zod.ts";

/** A manifest, or a clause about "it", the file, that says why the manifest cannot be used. */
export type ManifestReading =
  | { readonly manifest: Manifest; readonly reason: null }
  | { readonly manifest: null; readonly reason: string; readonly cause?: unknown };

/** Reads a plugin's manifest, within bounds. Throws `UnreadableWasm` for custom sections without a name. */
export function readManifest(sections: readonly WasmSection[]): ManifestReading {
  const [section, ...others] = customSections(sections, manifestSection);
  if (!section || others.length > 0) return unfit(`it has not exactly one custom section "${manifestSection}"`);
  const { manifestBytesMax } = pluginLimits;
  if (section.length > manifestBytesMax) {
    return unfit(`its manifest is ${section.length} bytes, at most ${manifestBytesMax} allowed`);
  }
  return parseManifest(section);
}

function parseManifest(section: Uint8Array): ManifestReading {
  try {
    // A byte order mark is not JSON, and other hosts refuse it too.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(section);
    return checkForm(parseStrictJson(text, pluginLimits.manifestDepthMax));
  } catch (error) {
    if (error instanceof UnfitJson) return unfit(`its manifest ${error.message}`, error);
    return unfit("its manifest is not JSON", error);
  }
}

function checkForm(value: unknown): ManifestReading {
  const parsed = safeParse(manifestSchema, value);
  if (parsed.success) return { manifest: parsed.data, reason: null };
  const places = new Set(parsed.error.issues.map(({ path }) => path.join(".")));
  const [first = "", ...others] = places;
  const where =
    first === "" ? "" : `, at ${quoted(first)}${others.length > 0 ? ` and ${others.length} more places` : ""}`;
  return unfit(`its manifest does not have the form of ABI version 1 or 2${where}`, parsed.error);
}

function unfit(reason: string, cause?: unknown): ManifestReading {
  return { manifest: null, reason, cause };
}
