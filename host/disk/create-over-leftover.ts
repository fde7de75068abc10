import type { Directory } from "./directory.ts";
import type { Permissions } from "./permissions.ts";

interface NewFile {
  readonly content: Uint8Array;
  /** How messages name it. */
  readonly shown: string;
  /** Whose use it is for; the host's user alone by default. */
  readonly like?: Permissions | null;
}

/** Writes a file of the host's own under a name where a killed process may have left one. */
export function createOverLeftover(folder: Directory, name: string, { content, shown, like = null }: NewFile): void {
  if (folder.sizeOf(name, shown) !== null) folder.remove(name);
  folder.create(name, content, shown, like);
}
