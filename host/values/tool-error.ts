import type { InputIssue } from "../../shared/envelope.ts";
import { errorTable } from "../../shared/errors.ts";
import type { AnyErrorCode, ErrorCode, ErrorEntry } from "../../shared/errors.ts";

export interface ToolErrorOptions {
  readonly cause?: unknown;
  readonly issues?: readonly InputIssue[] | undefined;
  /** A plugin's own code. */
  readonly declared?: string | undefined;
}

/**
 * A failure with a code of the error table, or with one that a plugin declares, thrown inside one thread.
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
  readonly code: AnyErrorCode;
  /** The code of the table that a plugin's own is a case of; `undefined` where `code` is one of the table itself. */
  readonly of: ErrorCode | undefined;
  /** With `INPUT_INVALID`, and what is a case of it: each field that is wrong, its value and what is allowed. */
  readonly issues: readonly InputIssue[] | undefined;
  readonly #tableCode: ErrorCode;

  /** `tableCode` is what the failure is, or what the plugin's own code in `options.declared` is a case of. */
  constructor(tableCode: ErrorCode, message: string, options?: ToolErrorOptions) {
    super(message, options);
    this.code = options?.declared ?? tableCode;
    this.of = options?.declared === undefined ? undefined : tableCode;
    this.issues = options?.issues;
    this.#tableCode = tableCode;
  }

  /** `of` where there is one, else `code`. */
  get tableCode(): ErrorCode {
    return this.#tableCode;
  }

  /** Whose fault it was. */
  get blame(): ErrorEntry["blame"] {
    return errorTable[this.#tableCode].blame;
  }

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return errorTable[this.#tableCode].retryable;
  }
}

/** Any thrown thing as a `ToolError`: what has no code is a fault of the runtime. */
export function asToolError(error: unknown, action: string): ToolError {
  if (error instanceof ToolError) return error;
  return new ToolError("INTERNAL", `Cannot ${action}: the runtime failed`, { cause: error });
}
