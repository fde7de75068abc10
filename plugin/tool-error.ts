import type { InputIssue } from "../shared/envelope.ts";

/**
 * A failure with a code of the table, or one that the family declares (`errors` in `family.ts`). Thrown inside the guest
 * only; `serveTool` makes an envelope of it.
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
