import type { Manifest } from "../../../shared/manifest.ts";
import { describeDeviations } from "../../../shared/plugin-shape.ts";
import { readSections, UnreadableWasm } from "../../../shared/wasm-sections.ts";
import type { WasmSection } from "../../../shared/wasm-sections.ts";
import { readManifest } from "./read-manifest.ts";

/** All that can be told of a plugin file without an engine. */
export interface PluginReading {
  /** Empty when the bytes are no module at all. */
  readonly sections: readonly WasmSection[];
  readonly manifest: Manifest | null;
  /** Clauses about "it", the one that has it refused first. */
  readonly deviations: readonly string[];
  /** What made the manifest unusable, for the operator's log. */
  readonly cause?: unknown;
}

/**
 * Reads a plugin file within the bounds of `shared/limits.ts`. Never throws for what is in it. `judgePin` is asked first: of a
 * file that is not the one which was reviewed, nothing else is judged.
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
    // What cannot be read of a section is found by all who read it.
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
