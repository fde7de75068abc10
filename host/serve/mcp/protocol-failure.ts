import { ToolError } from "../../values/tool-error.ts";
import { failureOf } from "../../values/tool-result.ts";
import type { ToolFailure } from "../../values/tool-result.ts";
import { ProtocolError, ProtocolErrorCode } from "./sdk.ts";

/** A failure as a protocol error, for methods whose results cannot express one. `data` has its code. */
export function protocolFailure({ code, of, message, retryable }: ToolFailure): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, message, { code, ...(of && { of }), retryable });
}

/** For a request that names what is not there, or is not allowed. */
export const invalidParams = (message: string, data?: object): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);

/** Runs `run` and turns its `ToolError` into a protocol error. The client gets no details of other errors. */
export async function orProtocolFailure<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const failure = error instanceof ToolError ? error : new ToolError("INTERNAL", "Cannot answer: the runtime failed");
    throw protocolFailure(failureOf(failure));
  }
}
