import type { ListedFile } from "../../../shared/abi.ts";
import type { UserReader } from "../../store/store.ts";

/**
 * The store as one call sees it: what has been learned of a file's size is not asked again. Meanwhile nobody else
 * changes the user's scopes, and each question costs the store a walk from the data folder.
 */
export class StoredFiles {
  readonly #reader: UserReader;
  readonly #sizes = new Map<string, number | null>();

  constructor(reader: UserReader) {
    this.#reader = reader;
  }

  read(scope: string, path: string): string | null {
    const text = this.#reader.read(scope, path);
    // Reading refuses what asking for the size refuses, and text comes from exactly its bytes.
    this.#sizes.set(`${scope}:${path}`, text === null ? null : Buffer.byteLength(text));
    return text;
  }

  list(scope: string, prefix: string): ListedFile[] {
    return this.#reader.list(scope, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    const key = `${scope}:${path}`;
    let bytes = this.#sizes.get(key);
    if (bytes === undefined) {
      bytes = this.#reader.sizeOf(scope, path);
      this.#sizes.set(key, bytes);
    }
    return bytes;
  }

  bytesUsed(scope: string): number {
    return this.#reader.bytesUsed(scope);
  }
}
