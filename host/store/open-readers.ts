/** The one place that knows which kinds of store there are. */
import { openFileReaders } from "./files/open-files.ts";
import { openBridgedReaders } from "./memory/bridged-reader.ts";
import type { ReadBridge, StoreDefinition, StoreLocation, StoreReaders } from "./store.ts";

/** The side that only reads, in a thread. `connect` makes the thread's bridge to the main side, for a store that needs one. */
export function openReaders(location: StoreLocation, connect: () => ReadBridge): StoreReaders {
  switch (location.kind) {
    case "files":
      return openFileReaders(location);
    case "memory":
      return openBridgedReaders(connect());
  }
}

/** Whether a value of a program's is what `fileStore` or `memoryStore` has returned. */
export function isStoreDefinition(value: unknown): value is StoreDefinition {
  const { location, open } = (value ?? {}) as {
    readonly [Key in keyof StoreDefinition]?: Partial<StoreDefinition[Key]>;
  };
  const kind = location?.kind;
  if (typeof open !== "function") return false;
  return kind === ("files" satisfies StoreLocation["kind"]) || kind === ("memory" satisfies StoreLocation["kind"]);
}
