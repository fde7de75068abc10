import { createHash } from "node:crypto";

import { meaningOfImport } from "../../../shared/import-meanings.ts";
import { pluginLimits } from "../../../shared/limits.ts";
import { readMemoryLimits, sectionIds, UnreadableWasm, WasmReader } from "../../../shared/wasm-sections.ts";
import type { WasmSection } from "../../../shared/wasm-sections.ts";
import { readInterface } from "../../../shared/wasm-signatures.ts";
import type { WasmImport } from "../../../shared/wasm-signatures.ts";
import { isValidGuest } from "../../guest/guest-module.ts";
import type { Artifact, ArtifactImport } from "./artifact.ts";
import { readPlugin } from "./read-plugin.ts";

/**
 * Tells a plugin file from its bytes, by the same reading that a runtime loads it by; an engine is asked whether it would
 * take the module, and compiles and runs nothing of it.
 *
 * Never throws for what is in the file: what is wrong with it is among its deviations, and what could not be read for
 * that is empty. `file` is its name, without its folder.
 */
export function readArtifact(wasm: Uint8Array, file: string): Artifact {
  const { sections, manifest, deviations } = readPlugin(wasm);
  const names = readable(() => readInterface(sections));
  const memories = readable(() => readMemoryLimits(sections));
  const isBounded = sections.length > 0 && names !== null && memories !== null;
  return {
    file,
    sha256: createHash("sha256").update(wasm).digest("hex"),
    bytes: wasm.length,
    imports: names?.imports.map((each) => describeImport(each)) ?? [],
    exports: names?.exports.map(({ name, kind, signature }) => ({ name, kind, signature })) ?? [],
    memory: memories?.[0] ?? null,
    customSections: sections.filter(({ id }) => id === sectionIds.custom).map((section) => describeCustom(section)),
    manifest,
    deviations: isBounded ? [...deviations, ...engineDeviations(wasm, deviations.length === 0)] : deviations,
  };
}

/** A file that could not be read from its disk, or was not for its size. */
export function unreadArtifact(file: string, reason: string): Artifact {
  const nothing = { imports: [], exports: [], memory: null, customSections: [], manifest: null };
  return { file, sha256: "", bytes: 0, ...nothing, deviations: [reason] };
}

/** Of a file that is as it should be, the engine is asked about the very bytes that a host would have it compile. */
function engineDeviations(wasm: Uint8Array, isGuest: boolean): string[] {
  const isValid = isGuest ? isValidGuest(wasm) : WebAssembly.validate(wasm);
  return isValid ? [] : ["it is not a valid WebAssembly module: no engine takes it"];
}

function describeImport({ module, name, kind, signature }: WasmImport): ArtifactImport {
  const known = kind === "function" ? meaningOfImport(module, name) : null;
  return {
    module,
    name,
    signature: kind === "function" ? signature : kind,
    meaning: known?.meaning ?? null,
    right: known?.right ?? null,
  };
}

/** The beginning of a name that is longer than a name may be. `bytes` is what the section holds behind its name. */
function describeCustom({ payload }: WasmSection): { name: string; bytes: number } {
  const name = readable(() => {
    const reader = new WasmReader(payload);
    const bytes = reader.bytes(reader.u32());
    return { text: new TextDecoder().decode(bytes.subarray(0, pluginLimits.nameBytesMax)), rest: reader.rest };
  });
  return { name: name?.text ?? "", bytes: name?.rest.length ?? payload.length };
}

/** `null` for what is malformed, or has more in it than a plugin may: a deviation says so. */
function readable<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableWasm) return null;
    throw error;
  }
}
