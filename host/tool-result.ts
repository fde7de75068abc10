import { failed } from "../shared/envelope.ts";
import type { Envelope, InputIssue } from "../shared/envelope.ts";
import { errorTable } from "../shared/errors.ts";
import type { ErrorCode, ErrorEntry } from "../shared/errors.ts";
import type { ToolError } from "./tool-error.ts";

/** An error as a caller of `runtime.call` gets it: plain data, ready for JSON. */
export interface ToolFailure {
  readonly code: ErrorCode;
  /** The action, the present value and the allowed one. Fit to be shown to a model; never holds a host path. */
  readonly message: string;
  /** Whose fault it was: `caller`, `guest` or `host`. */
  readonly blame: ErrorEntry["blame"];
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;
  /** With `INPUT_INVALID`: each field that is wrong, its value and what is allowed. */
  readonly issues?: readonly InputIssue[];
}

/** What `runtime.call` resolves to. `data` is as the tool's output schema says. */
export type ToolResult<Data = unknown> =
  | { readonly ok: true; readonly message: string; readonly data: Data }
  | { readonly ok: false; readonly error: ToolFailure };

export function resultOf(envelope: Envelope): ToolResult {
  if (envelope.ok) return envelope;
  const { code, message, issues } = envelope.error;
  return { ok: false, error: { code, message, ...tableFields(code), ...(issues && { issues }) } };
}

export function failureOf({ code, message }: ToolError): ToolFailure {
  return { code, message, ...tableFields(code) };
}

function tableFields(code: ErrorCode): Pick<ToolFailure, "blame" | "retryable"> {
  const { blame, retryable } = errorTable[code];
  return { blame, retryable };
}

export function envelopeOf(error: ToolError): Extract<Envelope, { ok: false }> {
  return failed(error.code, error.message, error.issues);
}
