import { DiskRoot } from "../disk/data-root.ts";
import { FileReader } from "./files/file-reader.ts";
import { FileStore } from "./files/file-store.ts";
import { UserFolder } from "./files/user-folder.ts";
import { mountOf, MountedStore } from "./mounted-store.ts";
import type { Store, StoreLocation, StoreOptions, StoreReaders } from "./store.ts";

/** The one place that knows which stores there are. */
export function openStore({ dataDir, mounts = [] }: StoreLocation, options: StoreOptions): Store {
  const data = new FileStore(new DiskRoot(dataDir), options);
  if (mounts.length === 0) return data;
  const mounted = mounts.map((mount) => {
    const { scope } = mount;
    const note: StoreOptions["note"] = (userId, text) => options.note(userId, `mounted scope "${scope}": ${text}`);
    return { ...mount, store: new FileStore(DiskRoot.mounted(mount.dir), { ...options, note, mountedScope: scope }) };
  });
  return new MountedStore(data, mounted);
}

/** The side that only reads: for workers. */
export function openReaders({ dataDir, mounts = [] }: StoreLocation): StoreReaders {
  const root = new DiskRoot(dataDir);
  const mounted = mounts.map((mount) => ({ ...mount, root: DiskRoot.mounted(mount.dir) }));
  return {
    openUser: (userId, scopes = []) => {
      const mount = mountOf(mounted, userId, scopes);
      return new FileReader(new UserFolder(mount?.root ?? root, userId, mount?.scope));
    },
  };
}
