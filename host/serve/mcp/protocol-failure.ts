import { ToolError } from "../../values/tool-error.ts";
import { failureOf } from "../../values/tool-result.ts";
import type { ToolFailure } from "../../values/tool-result.ts";
import { ProtocolError, ProtocolErrorCode } from "./sdk.ts";

/** A failure where the protocol knows no result that says so: its code travels as data. */
export function protocolFailure({ code, of, message, retryable }: ToolFailure): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, message, { code, ...(of && { of }), retryable });
}

/** Runs what rejects with a `ToolError`. Anything else that it throws says nothing of itself to a client. */
export async function orProtocolFailure<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const failure = error instanceof ToolError ? error : new ToolError("INTERNAL", "Cannot answer: the runtime failed");
    throw protocolFailure(failureOf(failure));
  }
}
