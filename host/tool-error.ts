import type { InputIssue } from "../shared/envelope.ts";
import { errorTable } from "../shared/errors.ts";
import type { ErrorCode, ErrorEntry } from "../shared/errors.ts";

/**
 * A failure with a code of the error table, thrown inside one thread.
 *
 * `runtime.call` never throws it: there it is a value. `createRuntime` and `runtime.memoryIndex` do.
 * `cause`, where there is one, is for the operator's log only and may name host paths.
 *
 * @example
 * try {
 *   await runtime.memoryIndex({ userId: "" });
 * } catch (error) {
 *   if (error instanceof ToolError) console.log(error.code); // "USER_INVALID"
 * }
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: ErrorCode;
  /** With `INPUT_INVALID`: each field that is wrong, its value and what is allowed. */
  readonly issues: readonly InputIssue[] | undefined;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; issues?: readonly InputIssue[] }) {
    super(message, options);
    this.code = code;
    this.issues = options?.issues;
  }

  /** Whose fault it was. */
  get blame(): ErrorEntry["blame"] {
    return errorTable[this.code].blame;
  }

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return errorTable[this.code].retryable;
  }
}

/** Any thrown thing as a `ToolError`: what has no code is a fault of the runtime. */
export function asToolError(error: unknown, action: string): ToolError {
  if (error instanceof ToolError) return error;
  return new ToolError("INTERNAL", `Cannot ${action}: the runtime failed`, { cause: error });
}
