import type { InputIssue } from "../shared/envelope.ts";
import type { ErrorCode } from "../shared/errors.ts";

/** A failure with a code of the table. Thrown inside the guest only; `serveTool` makes an envelope of it. */
export class ToolError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly InputIssue[] | undefined;

  constructor(code: ErrorCode, message: string, issues?: readonly InputIssue[]) {
    super(message);
    this.code = code;
    this.issues = issues;
  }
}
