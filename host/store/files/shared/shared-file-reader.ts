import type { ListedFile } from "../../../../shared/abi.ts";
import type { DataRoot } from "../../../disk/data-root.ts";
import type { Seen } from "../../../values/change-set.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { checkedStore, decodeText, SeenFiles } from "../../reading.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { KnownSizes, ScopeSize, UserReader } from "../../store.ts";
import { FileReader } from "../file-reader.ts";
import { storeHome } from "../home.ts";

/** How many stores' folders are open at once: a call can read a thousand stores. */
const openMax = 32;

/** Reads the entries of shared stores for one call. */
export class SharedFileReader implements UserReader {
  readonly #root: DataRoot;
  /** The one that was used last comes last. */
  readonly #open = new Map<StoreId, FileReader>();
  readonly #known: Map<string, Partial<ScopeSize>>;
  readonly #seen = new SeenFiles();

  constructor(root: DataRoot, knownSizes: KnownSizes = {}) {
    this.#root = root;
    this.#known = new Map(Object.entries(knownSizes));
  }

  get knownSizes(): KnownSizes {
    return Object.fromEntries(this.#known);
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

  scopeSize(scope: string, isAnew = false): ScopeSize {
    const size = this.#of(scope).scopeSize(entriesScope, isAnew);
    this.#known.set(scope, size);
    return size;
  }

  [Symbol.dispose](): void {
    for (const reader of this.#open.values()) reader[Symbol.dispose]();
    this.#open.clear();
  }

  #of(scope: string): FileReader {
    const id = checkedStore(scope);
    const known = this.#known.get(scope) ?? {};
    const reader =
      this.#open.get(id) ?? new FileReader(storeHome(this.#root, id), { knownSizes: { [entriesScope]: known } });
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
