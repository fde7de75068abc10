import type { InputIssue } from "../../shared/envelope.ts";
import { errorTable } from "../../shared/errors.ts";
import type { AnyErrorCode, ErrorCode, ErrorEntry } from "../../shared/errors.ts";

export interface ToolErrorOptions {
  readonly cause?: unknown;
  readonly issues?: readonly InputIssue[] | undefined;
  /** A plugin's own code. */
  readonly declared?: string | undefined;
  readonly hint?: string | undefined;
  readonly pending?: WaitingId | undefined;
}

/** A write that waits for the owner of the memory. */
export interface WaitingId {
  /** For `runtime.upkeep.approve` and `reject`. */
  readonly id: string;
  /** When it is dropped: ISO 8601, UTC. */
  readonly expires: string;
}

/**
 * A failure with a code of the error table, or with one that a plugin declares, thrown inside one thread.
 *
 * `runtime.call` never throws it, but returns it as a value. `createRuntime` and `runtime.memoryIndex` reject with it.
 * `cause`, if set, is only for the operator's log and can name host paths.
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
  /** The code of the table that a plugin's own code is a case of; `undefined` if `code` is itself in the table. */
  readonly of: ErrorCode | undefined;
  /** With `INPUT_INVALID` and its cases: each invalid field, its value and what is allowed. */
  readonly issues: readonly InputIssue[] | undefined;
  /** What the program or its operator can do about it, in words that are not for a model. */
  readonly hint: string | undefined;
  /** With `WRITE_PENDING`: what waits. */
  readonly pending: WaitingId | undefined;
  readonly #tableCode: ErrorCode;

  /** `tableCode`: the failure's code, or the code that the plugin's own code in `options.declared` is a case of. */
  constructor(tableCode: ErrorCode, message: string, options?: ToolErrorOptions) {
    super(message, options);
    this.code = options?.declared ?? tableCode;
    this.of = options?.declared === undefined ? undefined : tableCode;
    this.issues = options?.issues;
    this.hint = options?.hint;
    this.pending = options?.pending;
    this.#tableCode = tableCode;
  }

  /** `of` if set, else `code`. */
  get tableCode(): ErrorCode {
    return this.#tableCode;
  }

  /** Whose fault it was. */
  get blame(): ErrorEntry["blame"] {
    return errorTable[this.#tableCode].blame;
  }

  /** Whether the same call can succeed later. */
  get retryable(): boolean {
    return errorTable[this.#tableCode].retryable;
  }
}

/** Does work. Returns `instead` if it fails with a `ToolError`; with a `code`, only if it has that one. */
export function orInstead<Result, Instead>(work: () => Result, instead: Instead, code?: ErrorCode): Result | Instead {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ToolError) || (code !== undefined && error.code !== code)) throw error;
    return instead;
  }
}

/** What a message says after "Cannot do this: ", as a clause about "it". */
export const reasonOf = ({ message }: ToolError): string => message.split(": ").at(-1) ?? "";

/** Converts any thrown value to a `ToolError`. A value without a code is a fault of the runtime. */
export function asToolError(error: unknown, action: string): ToolError {
  if (error instanceof ToolError) return error;
  return new ToolError("INTERNAL", `Cannot ${action}: the runtime failed`, { cause: error });
}
