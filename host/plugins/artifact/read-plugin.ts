import { pluginLimits } from "../../../shared/limits.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import { manifestSchema, manifestSection } from "../../../shared/manifest.ts";
import { describeDeviations } from "../../../shared/plugin-shape.ts";
import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { quoted } from "../../../shared/text.ts";
import { readSections, UnreadableWasm, customSections } from "../../../shared/wasm-sections.ts";
import type { WasmSection } from "../../../shared/wasm-sections.ts";
import { safeParse } from "../../../shared/zod.ts";

/** The facts about a plugin file that need no engine. */
export interface PluginReading {
  /** Empty if the bytes are not a module. */
  readonly sections: readonly WasmSection[];
  readonly manifest: Manifest | null;
  /** Clauses about "it". The first one is the reason for a refusal. */
  readonly deviations: readonly string[];
  /** Why the manifest is unusable, for the operator's log. */
  readonly cause?: unknown;
}

/**
 * Reads a plugin file within the bounds of `shared/limits.ts`. Never throws because of its content. `judgePin` is
 * called first: if it finds that the file is not the reviewed one, nothing else is checked.
 */
export function readPlugin(
  wasm: Uint8Array,
  judgePin: (manifest: Manifest) => readonly string[] = () => [],
): PluginReading {
  try {
    const sections = readSections(wasm);
    const { manifest, reason, ...rest } = orUnfit(() => readManifest(sections));
    const unpinned = manifest ? judgePin(manifest) : [];
    const mismatches = unpinned.length > 0 ? unpinned : describeDeviations(manifest, sections);
    // A section that cannot be read gives the same clause from every check that reads it.
    const deviations = reason === null ? mismatches : [...new Set([reason, ...mismatches])];
    return { sections, manifest, deviations, ...rest };
  } catch (error) {
    if (!(error instanceof UnreadableWasm)) throw error;
    return { sections: [], manifest: null, deviations: [error.message] };
  }
}

function orUnfit(read: () => ReturnType<typeof readManifest>): ReturnType<typeof readManifest> {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableWasm)) throw error;
    return { manifest: null, reason: error.message };
  }
}

/** A manifest, or a clause about "it", the file, that says why the manifest cannot be used. */
type ManifestReading =
  | { readonly manifest: Manifest; readonly reason: null }
  | { readonly manifest: null; readonly reason: string; readonly cause?: unknown };

/** Reads a plugin's manifest, within bounds. Throws `UnreadableWasm` for custom sections without a name. */
function readManifest(sections: readonly WasmSection[]): ManifestReading {
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
