import type { SharedStores } from "./shared-stores.ts";

/** A mounted folder has no shared stores. */
export const noSharedStores: SharedStores = {
  hold: () => Promise.reject(new RangeError("A mounted folder has no shared stores")),
  ids: () => Promise.resolve([]),
  owners: () => Promise.resolve([]),
  hintsOf: () => Promise.resolve([]),
  forgetHints: () => Promise.resolve(),
  leave: () => Promise.resolve(false),
};
