import { inspectOutput } from "../../shared/user-memory/inspect.ts";
import { safeParse } from "../../shared/zod.ts";
import { ToolError } from "../values/tool-error.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Finding } from "./finding.ts";

/** What InspectMemory has found. A guest that cannot look is a finding itself, beside what the store has found. */
export function findingsIn(result: ToolResult, scope: string): Finding[] {
  if (!result.ok) {
    return [{ problem: "not-inspected", path: scope, message: result.error.message, remedy: null }];
  }
  const parsed = safeParse(inspectOutput, result.data);
  if (!parsed.success)
    throw new ToolError("OUTPUT_INVALID", "Cannot use the answer of InspectMemory: it has no findings");
  const { findings, findingsHidden } = parsed.data;
  const shown = findings.map((finding): Finding => Object.assign(finding, { path: `${scope}/${finding.path}` }));
  if (findingsHidden === 0) return shown;
  const message = `${findingsHidden} more findings are not shown`;
  return [...shown, { problem: "not-inspected", path: scope, message, remedy: "mend the others first" }];
}
