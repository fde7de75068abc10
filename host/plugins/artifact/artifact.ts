import type { Right } from "../../../shared/abi.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import type { MemoryLimits } from "../../../shared/wasm-sections.ts";

export interface ArtifactImport {
  readonly module: string;
  readonly name: string;
  /** For example `i64->i64`; for an import that is not a function, its kind. */
  readonly signature: string;
  /** What the import lets the plugin do, in one plain sentence; `null` if the ABI does not define it. */
  readonly meaning: string | null;
  /** The right that a capability needs. */
  readonly right: Right | null;
}

/** The facts about a plugin file, from its bytes alone: none of its code runs. */
export interface Artifact {
  /** The file's name, without its folder. */
  readonly file: string;
  /** The SHA-256 of the whole file, in hex. If the file could not be read, it is empty and `bytes` is 0. */
  readonly sha256: string;
  readonly bytes: number;
  readonly imports: readonly ArtifactImport[];
  readonly exports: readonly { readonly name: string; readonly kind: string; readonly signature: string }[];
  /** In pages of 64 KiB. */
  readonly memory: MemoryLimits | null;
  /** `bytes`: the size of a section after its name. */
  readonly customSections: readonly { readonly name: string; readonly bytes: number }[];
  readonly manifest: Manifest | null;
  /** How the file deviates from the ABI and its own manifest: clauses about "it", in the order of the checks. */
  readonly deviations: readonly string[];
}
