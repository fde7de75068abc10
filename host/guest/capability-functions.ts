/** The functions through which a guest asks for capabilities: each takes a block with a request and makes one with a reply. */
import { capabilityNames } from "../../shared/abi.ts";
import type { CapabilityName } from "../../shared/abi.ts";
import { callLimits } from "../../shared/limits.ts";
import type { BlockAccess } from "./block-access.ts";
import type { BlockBudget } from "./block-budget.ts";
import type { BoundCapabilities } from "./capabilities/bind-capabilities.ts";
import type { CallContext } from "./kernel-functions.ts";
import { strictText } from "./strict-text.ts";

/** The state that the functions work on, new for each call. */
export interface CapabilityState {
  readonly access: BlockAccess;
  readonly budget: () => BlockBudget;
  /** `null` between two calls. */
  readonly capabilities: () => BoundCapabilities | null;
  /** Called when a capability has answered. */
  readonly onReply: (name: CapabilityName) => void;
}

type CapabilityFunction = (context: CallContext, request: bigint) => bigint;

export function capabilityFunctions(state: CapabilityState): Record<string, CapabilityFunction> {
  const { access, budget, capabilities, onReply } = state;
  return Object.fromEntries(
    capabilityNames.map((name) => [
      name,
      (context, request) => {
        const bound = capabilities();
        if (!bound) throw new RangeError("An instance without a call has no capabilities");
        access.settle();
        const reply = bound[name](textOf(context, request));
        onReply(name);
        budget().take(Buffer.byteLength(reply));
        return context.store(reply);
      },
    ]),
  );
}

/** Handle 0 and handles without a block give an empty text, which no capability accepts. */
function textOf(context: CallContext, handle: bigint): string {
  if (handle <= 0n) return "";
  try {
    const bytes = context.read(handle)?.arrayBuffer();
    return bytes === undefined || bytes.byteLength > callLimits.requestBytesMax ? "" : strictText(bytes);
  } catch {
    return "";
  }
}
