import type { ListedFile } from "../../../../shared/abi.ts";
import type { DataRoot } from "../../../disk/data-root.ts";
import type { Seen } from "../../../values/change-set.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { checkedStore, decodeText, SeenFiles } from "../../reading.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { UsedBytes, UserReader } from "../../store.ts";
import { FileReader } from "../file-reader.ts";
import { storeHome } from "../home.ts";

/** How many stores' folders are open at once: a call can read a thousand stores. */
const openMax = 32;

/** Reads the entries of shared stores for one call. */
export class SharedFileReader implements UserReader {
  readonly #root: DataRoot;
  /** The one that was used last comes last. */
  readonly #open = new Map<StoreId, FileReader>();
  readonly #bytesUsed: Map<string, number>;
  readonly #seen = new SeenFiles();

  constructor(root: DataRoot, usedBytes: UsedBytes = {}) {
    this.#root = root;
    this.#bytesUsed = new Map(Object.entries(usedBytes));
  }

  get usedBytes(): UsedBytes {
    return Object.fromEntries(this.#bytesUsed);
  }

  get seen(): Seen[] {
    return this.#seen.list();
  }

  read(scope: string, path: string): string | null {
    const bytes = this.#of(scope).bytesOf(entriesScope, path);
    this.#seen.note(scope, path, bytes);
    return bytes === null ? null : decodeText(bytes, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    return this.#of(scope).list(entriesScope, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#of(scope).sizeOf(entriesScope, path);
  }

  bytesUsed(scope: string): number {
    const bytes = this.#bytesUsed.get(scope) ?? this.#of(scope).bytesUsed(entriesScope);
    this.#bytesUsed.set(scope, bytes);
    return bytes;
  }

  [Symbol.dispose](): void {
    for (const reader of this.#open.values()) reader[Symbol.dispose]();
    this.#open.clear();
  }

  #of(scope: string): FileReader {
    const id = checkedStore(scope);
    const reader = this.#open.get(id) ?? new FileReader(storeHome(this.#root, id));
    this.#open.delete(id);
    this.#open.set(id, reader);
    const [oldest] = this.#open;
    if (this.#open.size > openMax && oldest !== undefined) {
      oldest[1][Symbol.dispose]();
      this.#open.delete(oldest[0]);
    }
    return reader;
  }
}
