import { hash } from "node:crypto";

import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { HomeName } from "../copying.ts";
import type { Home } from "../home.ts";

/** One of the two homes of a tenant: a user's scopes, or the store with the tenant's id. */
export interface HomePlace {
  readonly tenant: StoreId;
  readonly kind: "user" | "store";
}

export function placeOf(home: Home | HomeName): HomePlace {
  if (home.kind === "mount") throw new RangeError("A database has no mounted folders");
  return home.kind === "user" ? { tenant: ownStoreOf(home.id), kind: "user" } : { tenant: home.id, kind: "store" };
}

/** The key of a home's lock, a signed number of 64 bits in decimal. Two homes with the same key only wait for each other. */
export const lockOf = ({ tenant, kind }: HomePlace): string =>
  BigInt.asIntN(64, BigInt(`0x${hash("sha256", `memcell:${kind}:${tenant}`).slice(0, 16)}`)).toString();
