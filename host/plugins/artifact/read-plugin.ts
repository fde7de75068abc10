import type { Manifest } from "../../../shared/manifest.ts";
import { describeDeviations } from "../../../shared/plugin-shape.ts";
import { readSections, UnreadableWasm } from "../../../shared/wasm-sections.ts";
import type { WasmSection } from "../../../shared/wasm-sections.ts";
import { readManifest } from "./read-manifest.ts";

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
