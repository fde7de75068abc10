import type { StoreReaders, UserId } from "../stage/store.ts";

/** What a new call reads of a file in the memory scope. */
export function readStored(store: StoreReaders, userId: UserId, path: string): string | null {
  using reader = store.open(userId);
  return reader.read("memory", path);
}
