import { policyLimitsMax } from "./policy/policy-limits.ts";
import type { PolicyLimits } from "./policy/policy.ts";

/** What lowers every plugin's fuel. A guest can read it, so where nothing does there is nothing. */
export function loweredFuel(limits: PolicyLimits, ofOptions = limits.fuelPolls): { readonly fuelPolls?: number } {
  const fuelPolls = Math.min(limits.fuelPolls, ofOptions);
  return fuelPolls < policyLimitsMax.fuelPolls ? { fuelPolls } : {};
}
