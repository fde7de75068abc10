/** How a planner can repair a failed tool call. Its keys are those of goa-ai's Go struct, which has no JSON names. */
import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";

export interface RetryHint {
  readonly reason: string;
  readonly tool: string;
  readonly restrictToTool?: boolean;
  readonly missingFields?: readonly string[];
  readonly exampleInput?: DataMap;
  readonly priorInput?: DataMap;
  readonly clarifyingQuestion?: string;
  readonly message?: string;
}

export function readRetryHint(data: DataMap, forms: Forms): RetryHint {
  const fields = new DataFields("tool_result", data, forms, "retry_hint.");
  const [exampleInput, priorInput] = [fields.map("ExampleInput"), fields.map("PriorInput")];
  return {
    reason: fields.text("Reason"),
    tool: fields.text("Tool"),
    restrictToTool: fields.flag("RestrictToTool"),
    missingFields: fields.texts("MissingFields"),
    ...(exampleInput && { exampleInput }),
    ...(priorInput && { priorInput }),
    clarifyingQuestion: fields.text("ClarifyingQuestion"),
    message: fields.text("Message"),
  };
}

export function writeRetryHint(hint: RetryHint): DataMap {
  return {
    Reason: hint.reason,
    Tool: hint.tool,
    RestrictToTool: hint.restrictToTool ?? false,
    MissingFields: hint.missingFields ?? null,
    ExampleInput: hint.exampleInput ?? null,
    PriorInput: hint.priorInput ?? null,
    ClarifyingQuestion: hint.clarifyingQuestion ?? "",
    Message: hint.message ?? "",
  };
}
