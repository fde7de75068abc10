/** Opens a location's data folder and mounted folders, in the main thread or in a worker thread. */
import { DiskRoot } from "../../disk/data-root.ts";
import { nativeCalls } from "../../disk/native-calls.ts";
import type { UserId } from "../../values/user-id.ts";
import { withRecordsOf } from "../decided-commits.ts";
import type { ErasedUsers, HoldToEraseOptions, HeldToErase } from "../erasing.ts";
import type { HeldRecords } from "../held-records.ts";
import type { FilesLocation, HeldUser, HoldOptions, MountLocation, Store, StorePart, StoreReaders } from "../store.ts";
import { FileReader } from "./file-reader.ts";
import { FileStore } from "./file-store.ts";
import type { FileStoreSetup } from "./file-store.ts";
import { mountedHome, userHome } from "./home.ts";
import { SharedFileReader } from "./shared/shared-file-reader.ts";

/** Throws `STORAGE_FAILED` on a system whose files cannot be locked. */
export function openFiles({ dir, mounts }: FilesLocation, setup: FileStoreSetup): Store {
  nativeCalls();
  const data = new FileStore(new DiskRoot(dir), setup);
  if (mounts.length === 0) return data;
  const mounted = mounts.map((mount) => {
    const { scope } = mount;
    const note: FileStoreSetup["note"] = (userId, text) => setup.note(userId, `mounted scope "${scope}": ${text}`);
    return { ...mount, note, store: new FileStore(DiskRoot.mounted(mount.dir), { ...setup, note, mount }) };
  });
  return new MountedStore(data, mounted);
}

export function openFileReaders({ dir, mounts }: FilesLocation): StoreReaders {
  const root = new DiskRoot(dir);
  const mounted = mounts.map((mount) => ({ ...mount, root: DiskRoot.mounted(mount.dir) }));
  return {
    openUser: (userId, scopes = [], known = {}) => {
      const mount = mountOf(mounted, userId, scopes);
      const home = mount === null ? userHome(root, userId) : mountedHome(mount.root, userId, mount.scope);
      return new FileReader(home, known);
    },
    openShared: ({ knownSizes = {} } = {}) => new SharedFileReader(root, knownSizes),
  };
}

/** A mounted folder with a store of its own, and so with its own lock and WAL. */
interface Mounted extends MountLocation {
  readonly store: Store;
  readonly note: FileStoreSetup["note"];
}

/** Sends work on a mounted scope to its folder, and all other work to the data folder. */
class MountedStore implements Store {
  readonly shared: Store["shared"];
  readonly #data: Store;
  readonly #mounted: readonly Mounted[];

  constructor(data: Store, mounted: readonly Mounted[]) {
    this.shared = data.shared;
    this.#data = data;
    this.#mounted = mounted;
  }

  hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    const mount = mountOf(this.#mounted, userId, options.scopes ?? []);
    if (mount === null) return this.#data.hold(userId, options, work);
    const { store, note } = mount;
    if (options.records !== true) return store.hold(userId, options, work);
    const { until, signal } = options;
    return this.#data.holdRecords(userId, { writes: true, until, signal }, (records) =>
      store.hold(userId, options, (held) => work(withRecordsOf(held, records, (text) => note(userId, text)))),
    );
  }

  holdRecords<Result>(
    userId: UserId,
    options: Omit<HoldOptions, "scopes" | "records">,
    work: (records: HeldRecords) => Promise<Result>,
  ): Promise<Result> {
    return this.#data.holdRecords(userId, options, work);
  }

  holdToErase<Result>(
    userId: UserId,
    options: HoldToEraseOptions,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    return this.#data.holdToErase(userId, options, work);
  }

  get erased(): ErasedUsers {
    return this.#data.erased;
  }

  async users(): Promise<UserId[]> {
    return [...new Set([...(await this.#data.users()), ...this.#mounted.map(({ userId }) => userId)])];
  }

  strays(): ReturnType<Store["strays"]> {
    return this.#data.strays();
  }

  async parts(userId: UserId): Promise<readonly StorePart[]> {
    const mounted = this.#mounted.filter((each) => each.userId === userId);
    return [{ scopes: [] }, ...mounted.map(({ scope }) => ({ scopes: [scope] }))];
  }

  isApart(userId: string | null, scopes: readonly string[]): boolean {
    return mountOf(this.#mounted, userId, scopes) !== null;
  }

  async retireLeftOver(): Promise<void> {
    await Promise.all([this.#data, ...this.#mounted.map(({ store }) => store)].map((store) => store.retireLeftOver()));
  }

  /** One after another: each flushes files, which takes descriptors. */
  watch(): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    for (const { store } of this.#mounted) await store.close();
    await this.#data.close();
  }
}

/** The mount that has a user's scopes; `null` if they are in the data folder. */
function mountOf<Mount extends MountLocation>(
  mounts: readonly Mount[],
  userId: string | null,
  scopes: readonly string[],
): Mount | null {
  const mount = mounts.find((each) => each.userId === userId && scopes.includes(each.scope));
  if (mount === undefined) return null;
  // A change in two places would not be atomic. No loaded tool asks for it.
  if (scopes.length > 1) throw new RangeError(`"${mount.scope}" is mounted, so it cannot be used with other scopes`);
  return mount;
}
