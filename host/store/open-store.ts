import { FileStore } from "./files/file-store.ts";
import type { Store, StoreLocation } from "./store.ts";

/** The one place that knows which stores there are. */
export function openStore(location: StoreLocation): Store {
  return new FileStore(location.dataDir);
}
