import type { EndSignal } from "../../values/call-ending.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { ActingPrincipal } from "../shared-stores.ts";

/** For whom the database works, and what it locks meanwhile. */
export interface Acting {
  readonly who: StoreId;
  readonly vouched?: ActingPrincipal["vouched"];
  /** Keys of locks, in the order in which they are taken. */
  readonly locks: readonly string[];
  /** Whether all reads see the same moment, and nothing is written. */
  readonly isReadOnly: boolean;
  /** When to give up waiting for locks, on the clock of `performance.now()`. */
  readonly until: number;
  readonly signal?: EndSignal | undefined;
}

/** Whoever lists acts for no tenant. */
export const nobody = "00000000-0000-0000-0000-000000000000" as StoreId;
