import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { Envelope, Failure, InputIssue } from "../../shared/envelope.ts";
import { errorTable } from "../../shared/errors.ts";
import type { ErrorCode, ErrorEntry } from "../../shared/errors.ts";
import { ToolError } from "./tool-error.ts";
import type { WaitingId } from "./tool-error.ts";

interface ToldFailure {
  /** The action, the present value and the allowed one. Safe to show to a model; never contains a host path. */
  readonly message: string;
  /** Whose fault it was: `caller`, `guest` or `host`. */
  readonly blame: ErrorEntry["blame"];
  /** Whether the same call can succeed later without any change. */
  readonly retryable: boolean;
  /** With `INPUT_INVALID` and its cases: each invalid field, its value and what is allowed. */
  readonly issues?: readonly InputIssue[];
}

/** A failure with a code of the error table. */
export interface TableFailure extends ToldFailure {
  readonly code: ErrorCode;
  readonly of?: undefined;
}

/** A failure with a plugin's own code, which its manifest declares: see `ToolDescription.errors`. */
export interface PluginFailure extends ToldFailure {
  /** Never a code of the table. Two plugins can declare the same code. */
  readonly code: string & {};
  /** The code of the table that it is a case of, with its `blame` and `retryable`. */
  readonly of: ErrorCode;
}

/**
 * An error as `runtime.call` returns it: plain data, ready for JSON. `of` distinguishes the two kinds.
 *
 * @example
 * // { code: "NAME_CONFLICT", message: "…", blame: "caller", retryable: false }
 * // { code: "MEMORY_KEY_EXISTS", of: "NAME_CONFLICT", message: "…", blame: "caller", retryable: false }
 * const tableCode = failure.of ?? failure.code; // an `ErrorCode`, whichever plugin it was
 */
export type ToolFailure = TableFailure | PluginFailure;

/** `data` has the form of the tool's output schema. */
export interface ToolSuccess<Data = unknown> {
  readonly ok: true;
  readonly message: string;
  readonly data: Data;
  /**
   * Where the entries come from that the answer shows, the least trusted first; without those that the user has written
   * or approved. Absent if there are none. It can have more entries than the answer: of a plugin that does not say what it
   * shows, all that it has read. A text for a model needs them, too: see `originLines`.
   */
  readonly origins?: readonly EntryOrigin[];
}

export interface FailedResult {
  readonly ok: false;
  readonly error: ToolFailure;
  /**
   * What the program or its operator can do about it, such as which plugin to load. Beside `error`, because it is not
   * for a model.
   */
  readonly hint?: string;
  /** With `WRITE_PENDING`: what waits for the owner of the memory. The message names its id, too. */
  readonly pending?: WaitingId;
}

/** What `runtime.call` resolves to. */
export type ToolResult<Data = unknown> = ToolSuccess<Data> | FailedResult;

export function resultOf(envelope: Envelope): ToolResult {
  return envelope.ok ? envelope : { ok: false, error: told(envelope.error) };
}

export function failureOf(error: ToolError): ToolFailure {
  const { issues: _, ...failure } = told(envelopeOf(error).error);
  return failure;
}

function told(failure: Failure): ToolFailure {
  const { message, issues } = failure;
  const { blame, retryable } = errorTable[failure.of ?? failure.code];
  const rest = { message, blame, retryable, ...(issues && { issues }) };
  return failure.of === undefined ? { code: failure.code, ...rest } : { code: failure.code, of: failure.of, ...rest };
}

export function envelopeOf({ code, of, tableCode, message, issues }: ToolError): Extract<Envelope, { ok: false }> {
  const text = { message, ...(issues && { issues }) };
  return { ok: false, error: of === undefined ? { code: tableCode, ...text } : { code, of, ...text } };
}

export function failedResult(error: ToolError): FailedResult {
  const { hint, pending } = error;
  const more = { ...(hint !== undefined && { hint }), ...(pending !== undefined && { pending }) };
  return { ok: false, error: told(envelopeOf(error).error), ...more };
}

/** Converts a failed result to an error that can be thrown. */
export function errorOf({ error, hint, pending }: FailedResult): ToolError {
  const { message, issues } = error;
  return error.of === undefined
    ? new ToolError(error.code, message, { issues, hint, pending })
    : new ToolError(error.of, message, { issues, hint, pending, declared: error.code });
}
