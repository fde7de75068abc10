/** Opens the files of a location: the data folder and what is mounted, on the main side and in a thread. */
import { DiskRoot } from "../../disk/data-root.ts";
import type { FilesLocation, Store, StoreReaders } from "../store.ts";
import { FileReader } from "./file-reader.ts";
import { FileStore } from "./file-store.ts";
import type { FileStoreSetup } from "./file-store.ts";
import { MountedStore, mountOf } from "./mounted-store.ts";

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
