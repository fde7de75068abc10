/** The only place that knows every kind of store. */
import { openBridgedReaders } from "./bridge/bridged-reader.ts";
import type { ReadBridge, StoreDefinition, StoreLocation } from "./definition.ts";
import { openFileReaders } from "./files/file-reader.ts";
import type { StoreReaders } from "./reading.ts";

/**
 * Opens a store's readers in a worker thread. `connect` makes the thread's bridge to the main thread, if the store
 * needs one.
 */
export function openReaders(location: StoreLocation, connect: () => ReadBridge): StoreReaders {
  switch (location.kind) {
    case "files":
      return openFileReaders(location);
    case "memory":
    case "postgres":
      return openBridgedReaders(connect());
  }
}

const kinds: readonly unknown[] = ["files", "memory", "postgres"] satisfies StoreLocation["kind"][];

/** Whether a value is what `fileStore`, `memoryStore` or `postgresStore` returns. */
export function isStoreDefinition(value: unknown): value is StoreDefinition {
  const { location, open } = (value ?? {}) as {
    readonly [Key in keyof StoreDefinition]?: Partial<StoreDefinition[Key]>;
  };
  return typeof open === "function" && kinds.includes(location?.kind);
}
