/** The only place that knows every kind of store. */
import { openFileReaders } from "./files/open-files.ts";
import { openBridgedReaders } from "./memory/bridged-reader.ts";
import type { ReadBridge, StoreDefinition, StoreLocation, StoreReaders } from "./store.ts";

/**
 * Opens a store's readers in a worker thread. `connect` makes the thread's bridge to the main thread, if the store
 * needs one.
 */
export function openReaders(location: StoreLocation, connect: () => ReadBridge): StoreReaders {
  switch (location.kind) {
    case "files":
      return openFileReaders(location);
    case "memory":
      return openBridgedReaders(connect());
  }
}

/** Whether a value is what `fileStore` or `memoryStore` returns. */
export function isStoreDefinition(value: unknown): value is StoreDefinition {
  const { location, open } = (value ?? {}) as {
    readonly [Key in keyof StoreDefinition]?: Partial<StoreDefinition[Key]>;
  };
  const kind = location?.kind;
  if (typeof open !== "function") return false;
  return kind === ("files" satisfies StoreLocation["kind"]) || kind === ("memory" satisfies StoreLocation["kind"]);
}
