import { callLimits, guestLimits } from "../../../shared/limits.ts";
import type { PolicyLimits } from "./policy.ts";

/** What holds where a policy says nothing, and above which no policy may go. */
export const policyLimitsMax: PolicyLimits = {
  deadlineMs: guestLimits.deadlineMs,
  fuelPolls: guestLimits.fuelPollsMax,
  memoryPages: guestLimits.memoryPagesMax,
  inputBytes: callLimits.inputBytesMax,
  hostCalls: callLimits.hostCallsMax,
  stagedBytes: callLimits.stagedBytesMax,
};
