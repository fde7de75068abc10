import type { UserId } from "../values/user-id.ts";
import type { Store } from "./store.ts";

/** As `Store.watch`. A store that does not hear of other hosts calls nothing. */
export const watchStore = (store: Store, userId: UserId, changed: () => void): (() => void) =>
  store.watch?.(userId, changed) ?? (() => {});
