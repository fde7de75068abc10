import type { UserReader } from "../../host/store/store.ts";

/** A user who has nothing. */
export const emptyFolder: UserReader = {
  read: () => null,
  list: () => [],
  sizeOf: () => null,
  seen: [],
  bytesUsed: () => 0,
  [Symbol.dispose]: () => {},
};
