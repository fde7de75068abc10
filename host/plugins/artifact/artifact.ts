import type { Right } from "../../../shared/abi.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import type { MemoryLimits } from "../../../shared/wasm-sections.ts";

export interface ArtifactImport {
  readonly module: string;
  readonly name: string;
  /** As `i64->i64`; of an import that is no function, its kind. */
  readonly signature: string;
  /** What it lets the plugin do, in one plain sentence; `null` for one that ABI version 1 does not know. */
  readonly meaning: string | null;
  /** The right that a capability needs. */
  readonly right: Right | null;
}

/** What a plugin file is, told from its bytes alone: nothing of it is run. */
export interface Artifact {
  /** The file's name, without its folder. */
  readonly file: string;
  /** Of the whole file, in hex. Empty, and `bytes` 0, when the file could not be read. */
  readonly sha256: string;
  readonly bytes: number;
  readonly imports: readonly ArtifactImport[];
  readonly exports: readonly { readonly name: string; readonly kind: string; readonly signature: string }[];
  /** In pages of 64 KiB. */
  readonly memory: MemoryLimits | null;
  /** `bytes` is what a section holds behind its name. */
  readonly customSections: readonly { readonly name: string; readonly bytes: number }[];
  readonly manifest: Manifest | null;
  /** Where the file is not as ABI version 1 and its own manifest say: clauses about "it", the first first. */
  readonly deviations: readonly string[];
}
