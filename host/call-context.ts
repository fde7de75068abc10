import { ToolError } from "./tool-error.ts";
import { checkUserId } from "./user-id.ts";
import type { UserId } from "./user-id.ts";

/** On whose behalf a call is made. The user comes from here and from nowhere else. */
export interface CallContext {
  /** The authenticated user: 1 to 128 bytes, no control characters, no slashes. */
  readonly userId: string;
  /**
   * Cancels the call when it is aborted, wherever the call is: in line, waiting for the folder or for a thread, or
   * running. The call ends as `CANCELLED` and nothing is written. When its changes are already being committed, it ends
   * as without the signal. Default: it cannot be cancelled.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckedContext {
  readonly userId: UserId;
  readonly signal: AbortSignal | undefined;
}

/** Callers without types may pass anything. Throws `USER_REQUIRED`, `USER_INVALID` or `INPUT_INVALID`. */
export function checkContext(ctx: CallContext | null | undefined, action = "call a tool"): CheckedContext {
  return { userId: checkUserId(ctx?.userId, action), signal: checkSignal(ctx?.signal, action) };
}

function checkSignal(signal: unknown, action: string): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  const [value, allowed] = [signal === null ? "null" : `of type ${typeof signal}`, "an AbortSignal or nothing"];
  const issues = [{ field: "ctx.signal", value, allowed }];
  throw new ToolError("INPUT_INVALID", `Cannot ${action}: ctx.signal is ${value}, allowed: ${allowed}`, { issues });
}
