/** The ids of an agent and its run, as a caller gives them, and the folder that they map to. */
import { hasLoneSurrogate, presentValue, utf8Bytes } from "../../shared/text.ts";
import { inputError, ToolError } from "../kit/tool-error.ts";
import { runLimits } from "./run-limits.ts";
import { folderNameOf } from "./run-path.ts";

export interface RunIds {
  readonly agentId: string;
  readonly runId: string;
}

/** Throws goa-ai's errors for empty ids, the agent's first. */
export function checkIds(toolName: string, { agentId, runId }: RunIds): void {
  if (agentId === "") throw required("AGENT_ID_REQUIRED", "agentId", "agent id is required");
  if (runId === "") throw required("RUN_ID_REQUIRED", "runId", "run id is required");
  checkId(toolName, "agentId", agentId, runLimits.idBytesMax);
  checkId(toolName, "runId", runId, runLimits.idBytesMax);
}

export function checkId(toolName: string, field: string, id: string, bytesMax: number): void {
  if (id !== "" && utf8Bytes(id) <= bytesMax && !hasLoneSurrogate(id)) return;
  throw inputError(toolName, [{ field, value: presentValue(id), allowed: idAllowed(bytesMax) }]);
}

const idAllowed = (bytesMax: number): string => `1 to ${bytesMax} UTF-8 bytes without lone surrogates`;

const required = (code: string, field: string, message: string): ToolError =>
  new ToolError(code, message, [{ field, value: '""', allowed: idAllowed(runLimits.idBytesMax) }]);

/** The run's folder in the scope. */
export function folderOf({ agentId, runId }: RunIds): string {
  return `${folderNameOf(agentId)}/${folderNameOf(runId)}`;
}
