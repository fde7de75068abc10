import type { CapabilityReply } from "../../../shared/abi.ts";
import type { GuestCall } from "./guest-call.ts";

/** The time at which the call began. It stands still, so a guest can measure nothing with it. */
export function clockNow(call: GuestCall): CapabilityReply<"clock_now"> {
  return { ok: true, epochMs: call.epochMs };
}
