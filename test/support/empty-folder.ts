import { sizeOfFiles } from "../stage/store.ts";
import type { UserReader } from "../stage/store.ts";

/** A user without files. */
export const emptyFolder: UserReader = {
  read: () => null,
  list: () => [],
  sizeOf: () => null,
  seen: [],
  knownSizes: {},
  scopeSize: () => sizeOfFiles([]),
  [Symbol.dispose]: () => {},
};
