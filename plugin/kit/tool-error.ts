import type { InputIssue } from "../../shared/envelope.ts";

/**
 * An error with a code of the table, or with a code that the family declares (`errors` in `family.ts`). It is thrown
 * only inside the guest; `serveTool` turns it into an envelope.
 */
export class ToolError extends Error {
  readonly code: string;
  readonly issues: readonly InputIssue[] | undefined;

  constructor(code: string, message: string, issues?: readonly InputIssue[]) {
    super(message);
    this.code = code;
    this.issues = issues;
  }
}

/** Names each wrong field, its value and what is allowed. `code` is `INPUT_INVALID`, or a case of it. */
export function inputError(toolName: string, issues: readonly InputIssue[], code: string = "INPUT_INVALID"): ToolError {
  const parts = issues.map(({ field, value, allowed }) => `${field} is ${value}, allowed: ${allowed}`);
  return new ToolError(code, `Cannot call ${toolName}: ${parts.join("; ")}`, issues);
}
