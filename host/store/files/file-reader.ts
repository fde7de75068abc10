import type { ListedFile } from "../../../shared/abi.ts";
import type { Seen } from "../../change-set.ts";
import { ToolError } from "../../tool-error.ts";
import type { UserReader } from "../store.ts";
import { digestOf } from "./commit/journal-record.ts";
import { bytesBelow, listFiles } from "./list-files.ts";
import { checkOwner } from "./owner.ts";
import type { UserFolder } from "./user-folder.ts";

/** Reads one user's scopes for one call. */
export class FileReader implements UserReader {
  readonly #folder: UserFolder;
  /** Measured once: a reader serves one call, and meanwhile no host changes the user's scopes. */
  readonly #bytesUsed = new Map<string, number>();
  readonly #seen = new Map<string, Seen>();

  constructor(folder: UserFolder) {
    checkOwner(folder);
    this.#folder = folder;
  }

  get seen(): Seen[] {
    return [...this.#seen.values()];
  }

  read(scope: string, path: string): string | null {
    using place = this.#folder.find(scope, path);
    const bytes = place === null ? null : place.folder.read(place.name, path);
    this.#seen.set(`${scope}:${path}`, { scope, path, digest: digestOf(bytes) });
    return bytes === null ? null : decode(bytes, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    using folder = this.#folder.openScope(scope);
    return folder === null ? [] : listFiles(folder, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    using place = this.#folder.find(scope, path);
    return place === null ? null : place.folder.sizeOf(place.name, path);
  }

  bytesUsed(scope: string): number {
    let bytes = this.#bytesUsed.get(scope);
    if (bytes === undefined) {
      using folder = this.#folder.openScope(scope);
      bytes = folder === null ? 0 : bytesBelow(folder);
      this.#bytesUsed.set(scope, bytes);
    }
    return bytes;
  }
}

/** Bytes to text without loss: what is not UTF-8 is refused, and a byte order mark stays. */
function decode(bytes: Buffer, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read "${shown}": it is not UTF-8 text`, { cause: error });
  }
}
