import { callLimits, guestLimits } from "../../../shared/limits.ts";
import type { PolicyLimits } from "./policy.ts";

/** The default limits of a policy. No policy may exceed them. */
export const policyLimitsMax: PolicyLimits = {
  deadlineMs: guestLimits.deadlineMs,
  fuelPolls: guestLimits.fuelPollsMax,
  memoryPages: guestLimits.memoryPagesMax,
  inputBytes: callLimits.inputBytesMax,
  hostCalls: callLimits.hostCallsMax,
  stagedBytes: callLimits.stagedBytesMax,
};
