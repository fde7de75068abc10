import { sizeOfFiles } from "../../host/store/scope-size.ts";
import type { UserReader } from "../../host/store/store.ts";

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
