import type { StoreReaders } from "../../host/store/store.ts";
import type { UserId } from "../../host/values/user-id.ts";

/** What a new call reads of a file in the memory scope. */
export function readStored(store: StoreReaders, userId: UserId, path: string): string | null {
  using reader = store.openUser(userId);
  return reader.read("memory", path);
}
