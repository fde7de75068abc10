import type { UserReader } from "../../host/store/store.ts";

/** A user without files. */
export const emptyFolder: UserReader = {
  read: () => null,
  list: () => [],
  sizeOf: () => null,
  seen: [],
  usedBytes: {},
  bytesUsed: () => 0,
  [Symbol.dispose]: () => {},
};
