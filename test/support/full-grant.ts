import type { Grant } from "../../host/guest/capabilities/guest-call.ts";
import { policyLimitsMax } from "../../host/plugins/policy/policy.ts";
import { rights } from "../../shared/abi.ts";
import type { UserId } from "../stage/store.ts";

/** Every right in some scopes of a user's folder, with the highest limits. */
export function fullGrant(userId: UserId, scopes: readonly string[] = ["memory"]): Grant {
  return { userId, scopes, rights, limits: { ...policyLimitsMax, refuels: false }, freedBytes: 0 };
}
