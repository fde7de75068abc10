import { policyLimitsMax } from "./policy/policy.ts";
import type { PolicyLimits } from "./policy/policy.ts";

/** The fuel limit for all plugins, from policy and options. Empty if it lowers nothing, because a guest can read it. */
export function loweredFuel(limits: PolicyLimits, ofOptions = limits.fuelPolls): { readonly fuelPolls?: number } {
  const fuelPolls = Math.min(limits.fuelPolls, ofOptions);
  return fuelPolls < policyLimitsMax.fuelPolls ? { fuelPolls } : {};
}
