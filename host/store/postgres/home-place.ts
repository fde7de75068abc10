import { hash } from "node:crypto";

import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { UserId } from "../../values/user-id.ts";

/** One of the two homes of a tenant: a user's scopes, or the store with the tenant's id. */
export interface HomePlace {
  readonly tenant: StoreId;
  readonly kind: "user" | "store";
}

export const placeOfUser = (userId: UserId): HomePlace => ({ tenant: ownStoreOf(userId), kind: "user" });

/** The key of a home's lock, a signed number of 64 bits in decimal. Two homes with the same key only wait for each other. */
export const lockOf = ({ tenant, kind }: HomePlace): string =>
  BigInt.asIntN(64, BigInt(`0x${hash("sha256", `memcell:${kind}:${tenant}`).slice(0, 16)}`)).toString();
