import type { Directory } from "./directory.ts";
import type { Permissions } from "./permissions.ts";

export interface NewFile {
  readonly content: Uint8Array;
  /** How messages name it. */
  readonly shown: string;
  /** Its permissions; by default only its owner can use it. */
  readonly like?: Permissions | null;
}

/** Writes one of the host's own files. Replaces a leftover of a killed process. */
export function createOverLeftover(folder: Directory, name: string, { content, shown, like = null }: NewFile): void {
  if (folder.sizeOf(name, shown) !== null) folder.remove(name);
  folder.create(name, content, shown, like);
}
