/** Opens the files of a location: the data folder and what is mounted, on the main side and in a thread. */
import { DiskRoot } from "../../disk/data-root.ts";
import type { UserId } from "../../values/user-id.ts";
import type { FilesLocation, HeldUser, HoldOptions, MountLocation, Store, StorePart, StoreReaders } from "../store.ts";
import { FileReader } from "./file-reader.ts";
import { FileStore } from "./file-store.ts";
import type { FileStoreSetup } from "./file-store.ts";

export function openFiles({ dir, mounts }: FilesLocation, setup: FileStoreSetup): Store {
  const data = new FileStore(new DiskRoot(dir), setup);
  if (mounts.length === 0) return data;
  const mounted = mounts.map((mount) => {
    const { scope } = mount;
    const note: FileStoreSetup["note"] = (userId, text) => setup.note(userId, `mounted scope "${scope}": ${text}`);
    return { ...mount, store: new FileStore(DiskRoot.mounted(mount.dir), { ...setup, note, mountedScope: scope }) };
  });
  return new MountedStore(data, mounted);
}

export function openFileReaders({ dir, mounts }: FilesLocation): StoreReaders {
  const root = new DiskRoot(dir);
  const mounted = mounts.map((mount) => ({ ...mount, root: DiskRoot.mounted(mount.dir) }));
  return {
    openUser: (userId, scopes = []) => {
      const mount = mountOf(mounted, userId, scopes);
      return new FileReader({ root: mount?.root ?? root, userId, mountedScope: mount?.scope ?? null });
    },
  };
}

/** A mounted folder with a store of its own: its lock, its WAL, and what is remembered of it. */
interface Mounted extends MountLocation {
  readonly store: Store;
}

/** Sends what concerns a mounted scope to its folder, and everything else to the data folder. */
class MountedStore implements Store {
  readonly #data: Store;
  readonly #mounted: readonly Mounted[];

  constructor(data: Store, mounted: readonly Mounted[]) {
    this.#data = data;
    this.#mounted = mounted;
  }

  hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return this.#storeOf(userId, options.scopes ?? []).hold(userId, options, work);
  }

  async users(): Promise<UserId[]> {
    return [...new Set([...(await this.#data.users()), ...this.#mounted.map(({ userId }) => userId)])];
  }

  async parts(userId: UserId): Promise<readonly StorePart[]> {
    const mounted = this.#mounted.filter((each) => each.userId === userId);
    return [{ scopes: [] }, ...mounted.map(({ scope }) => ({ scopes: [scope] }))];
  }

  isApart(userId: string | null, scopes: readonly string[]): boolean {
    return mountOf(this.#mounted, userId, scopes) !== null;
  }

  /** One after the other: each flushes files, which takes descriptors. */
  async close(): Promise<void> {
    for (const { store } of this.#mounted) await store.close();
    await this.#data.close();
  }

  #storeOf(userId: UserId, scopes: readonly string[]): Store {
    return mountOf(this.#mounted, userId, scopes)?.store ?? this.#data;
  }
}

/** Where a user's scopes are mounted; `null` where they lie in the data folder. */
function mountOf<Mount extends MountLocation>(
  mounts: readonly Mount[],
  userId: string | null,
  scopes: readonly string[],
): Mount | null {
  const mount = mounts.find((each) => each.userId === userId && scopes.includes(each.scope));
  if (mount === undefined) return null;
  // What is changed in two places would not be changed at one stroke. No tool that is loaded asks for it.
  if (scopes.length > 1) throw new RangeError(`"${mount.scope}" is mounted, and was asked for with other scopes`);
  return mount;
}
