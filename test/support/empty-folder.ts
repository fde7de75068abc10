import type { UserReader } from "../../host/store/store.ts";

/** A user who has nothing. */
export const emptyFolder: UserReader = {
  scopes: () => [],
  read: () => null,
  list: () => [],
  sizeOf: () => null,
  survey: () => ({ files: [], unfit: [] }),
  bytesOf: () => null,
  seen: [],
  bytesUsed: () => 0,
  [Symbol.dispose]: () => {},
};
