import { DiskRoot } from "./files/disk/data-root.ts";
import { FileReader } from "./files/file-reader.ts";
import { FileStore } from "./files/file-store.ts";
import { UserFolder } from "./files/user-folder.ts";
import type { Store, StoreLocation, StoreOptions } from "./store.ts";

/** The one place that knows which stores there are. */
export function openStore({ dataDir }: StoreLocation, options: StoreOptions): Store {
  return new FileStore(new DiskRoot(dataDir), options);
}

/** The side that only reads: for workers. */
export function openReaders({ dataDir }: StoreLocation): Pick<Store, "openUser"> {
  const root = new DiskRoot(dataDir);
  return { openUser: (userId) => new FileReader(new UserFolder(root, userId)) };
}
