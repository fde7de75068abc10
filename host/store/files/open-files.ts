/** Opens a location's data folder and mounted folders, in the main thread or in a worker thread. */
import type { ListedFile } from "../../../shared/abi.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import { DiskRoot } from "../../disk/data-root.ts";
import { nativeCalls } from "../../disk/native-calls.ts";
import type { Seen } from "../../values/change-set.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { FilesLocation, MountLocation } from "../definition.ts";
import type { Engine } from "../engine.ts";
import { entriesScope, storeHome, userHome } from "../home.ts";
import type { StoreReaders, UserReader } from "../readers.ts";
import { SeenFiles, checkedStore, decodeText } from "../reading.ts";
import type { KnownSizes, ScopeSize } from "../scope-size.ts";
import { FileReader } from "./file-reader.ts";
import { FilesEngine, mountHome } from "./files-engine.ts";
import type { FilesSetup, MountRoot } from "./files-engine.ts";
import { fileHome } from "./home.ts";

/** Throws `STORAGE_FAILED` on a system whose files cannot be locked. */
export function openFiles({ dir, mounts }: FilesLocation, setup: Omit<FilesSetup, "mounts">): Engine {
  nativeCalls();
  return new FilesEngine(new DiskRoot(dir), { ...setup, mounts: mounts.map(mounted) });
}

export const openFileReaders = ({ dir, mounts }: FilesLocation): StoreReaders =>
  readersOf(new DiskRoot(dir), mounts.map(mounted));

export function readersOf(root: DataRoot, mounts: readonly MountRoot[] = []): StoreReaders {
  return {
    openUser: (userId, scopes = [], known = {}) => {
      const mount = mounts.find((each) => each.userId === userId && scopes.includes(each.scope));
      if (mount === undefined) return new FileReader(fileHome(userHome(userId), root), known);
      return new FileReader(fileHome(mountHome(mount), mount.root), known);
    },
    openShared: ({ knownSizes = {} } = {}) => new SharedFileReader(root, knownSizes),
  };
}

const mounted = ({ userId, scope, dir }: MountLocation): MountRoot => ({ userId, scope, root: DiskRoot.mounted(dir) });

/** How many stores' folders are open at once: a call can read a thousand stores. */
const openMax = 32;

/** Reads the entries of shared stores for one call. */
class SharedFileReader implements UserReader {
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
      this.#open.get(id) ??
      new FileReader(fileHome(storeHome(id), this.#root), { knownSizes: { [entriesScope]: known } });
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
