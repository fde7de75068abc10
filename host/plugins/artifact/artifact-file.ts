import { createHash } from "node:crypto";
import { basename } from "node:path";

import { meaningOfImport } from "../../../shared/import-meanings.ts";
import { guestLimits, pluginLimits } from "../../../shared/limits.ts";
import { readMemoryLimits, sectionIds, UnreadableWasm, WasmReader } from "../../../shared/wasm-sections.ts";
import type { WasmSection } from "../../../shared/wasm-sections.ts";
import { readInterface } from "../../../shared/wasm-signatures.ts";
import type { WasmImport } from "../../../shared/wasm-signatures.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { isValidGuest } from "../../guest/guest-module.ts";
import type { Artifact, ArtifactImport } from "./artifact.ts";
import { readPlugin } from "./read-plugin.ts";

/** Reads a plugin file. A file that is missing, too large or not a regular file gives an unread artifact. */
export async function readArtifactFile(file: string): Promise<Artifact> {
  const name = basename(file);
  const read = await readBoundedFile(file, guestLimits.pluginBytesMax).catch(() => null);
  if (!read) return unreadArtifact(name, "it cannot be read");
  return read.kind === "unfit" ? unreadArtifact(name, read.reason) : readArtifact(read.bytes, name);
}

/**
 * Reads the facts about a plugin file from its bytes, with the same code that a runtime uses to load it. The engine
 * only validates the module; it compiles and runs nothing.
 *
 * Never throws because of the file's content: faults are in `deviations`, and parts that could not be read are empty.
 * `file` is the file's name, without its folder.
 */
function readArtifact(wasm: Uint8Array, file: string): Artifact {
  const { sections, manifest, deviations } = readPlugin(wasm);
  const names = readable(() => readInterface(sections));
  const memories = readable(() => readMemoryLimits(sections));
  const isBounded = sections.length > 0 && names !== null && memories !== null;
  return {
    file,
    sha256: createHash("sha256").update(wasm).digest("hex"),
    bytes: wasm.length,
    imports: names?.imports.map((each) => describeImport(each, manifest?.abi ?? 1)) ?? [],
    exports: names?.exports.map(({ name, kind, signature }) => ({ name, kind, signature })) ?? [],
    memory: memories?.[0] ?? null,
    customSections: sections.filter(({ id }) => id === sectionIds.custom).map((section) => describeCustom(section)),
    manifest,
    deviations: isBounded ? [...deviations, ...engineDeviations(wasm, deviations.length === 0)] : deviations,
  };
}

/** The artifact of a file that could not be read, or was not read because of its size. */
function unreadArtifact(file: string, reason: string): Artifact {
  const nothing = { imports: [], exports: [], memory: null, customSections: [], manifest: null };
  return { file, sha256: "", bytes: 0, ...nothing, deviations: [reason] };
}

/** For a file without deviations, the engine validates exactly the bytes that a host would compile. */
function engineDeviations(wasm: Uint8Array, isGuest: boolean): string[] {
  const isValid = isGuest ? isValidGuest(wasm) : WebAssembly.validate(wasm);
  return isValid ? [] : ["it is not a valid WebAssembly module: no engine takes it"];
}

function describeImport({ module, name, kind, signature }: WasmImport, abi: number): ArtifactImport {
  const known = kind === "function" ? meaningOfImport(module, name, abi) : null;
  return {
    module,
    name,
    signature: kind === "function" ? signature : kind,
    meaning: known?.meaning ?? null,
    right: known?.right ?? null,
  };
}

/** A name that is too long is cut. `bytes`: the size of the section after its name. */
function describeCustom({ payload }: WasmSection): { name: string; bytes: number } {
  const name = readable(() => {
    const reader = new WasmReader(payload);
    const bytes = reader.bytes(reader.u32());
    return { text: new TextDecoder().decode(bytes.subarray(0, pluginLimits.nameBytesMax)), rest: reader.rest };
  });
  return { name: name?.text ?? "", bytes: name?.rest.length ?? payload.length };
}

/** `null` if the content is malformed or exceeds a limit. A deviation reports that. */
function readable<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableWasm) return null;
    throw error;
  }
}
