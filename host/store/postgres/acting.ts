import type { StoreId } from "../../values/store-id.ts";

/** Whoever lists acts for no tenant. */
export const nobody = "00000000-0000-0000-0000-000000000000" as StoreId;
