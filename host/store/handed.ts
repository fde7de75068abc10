/** What a thread's readers get of a hold, as plain data, so that they need not find it again. */
import type { ListedFile } from "../../shared/abi.ts";

export type Handed = HandedHome | HandedFiles;

/** A home's folder that the main thread holds open. Threads of the same process can open it. */
export interface HandedHome {
  /** `keyOf` the home: a reader of another one does not open it. */
  readonly key: string;
  readonly folder: { readonly descriptor: number; readonly identity: string };
  /** Whether the disk folds case, by scope, as far as that is known. */
  readonly folds: ReadonlyMap<string, boolean>;
}

/** A hold to which the main thread answers, and what it has found already. */
export interface HandedFiles {
  readonly hold: number;
  readonly files: readonly HandedFile[];
  /** The scopes of which `files` are all files. */
  readonly complete: readonly string[];
}

export interface HandedFile extends ListedFile {
  readonly scope: string;
  /** `null` if it has to be asked for. */
  readonly content: Uint8Array | null;
}
