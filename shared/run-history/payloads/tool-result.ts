import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";
import { readBounds, writeBounds } from "./bounds.ts";
import type { Bounds } from "./bounds.ts";
import { readRetryHint, writeRetryHint } from "./retry-hint.ts";
import type { RetryHint } from "./retry-hint.ts";

/** The end of a tool call. */
export interface ToolResultData {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The call that this one belongs to. Default: none. */
  readonly parentToolCallId?: string;
  /** The result as JSON text, kept byte for byte. Default: none. */
  readonly resultJson?: string;
  /** JSON text that only servers may see; `ReadRunHistory` never returns it. Default: none. */
  readonly serverData?: string;
  /** A summary for people. Default: none. */
  readonly preview?: string;
  readonly bounds?: Bounds;
  /** How long the call took, in nanoseconds. Default: 0. */
  readonly duration?: bigint;
  /** Measurements, any JSON object. Default: none. */
  readonly telemetry?: DataMap;
  readonly retryHint?: RetryHint;
  /** Why the call failed. Default: it succeeded. */
  readonly errorMessage?: string;
}

type Objects = "bounds" | "telemetry" | "retryHint";

/** As it is read: only these can be missing. */
export type ReadToolResult = Required<Omit<ToolResultData, Objects>> & Pick<ToolResultData, Objects>;

export function readToolResult(data: unknown, forms: Forms): ReadToolResult {
  const fields = new DataFields("tool_result", data, forms);
  const [bounds, telemetry, hint] = [fields.map("bounds"), fields.map("telemetry"), fields.map("retry_hint")];
  return {
    toolCallId: fields.requiredText("tool_call_id"),
    toolName: fields.requiredText("tool_name"),
    parentToolCallId: fields.text("parent_tool_call_id"),
    resultJson: fields.jsonText("result_json"),
    serverData: fields.jsonText("server_data"),
    preview: fields.text("preview"),
    ...(bounds && { bounds: readBounds(bounds, forms) }),
    duration: fields.duration("duration"),
    ...(telemetry && { telemetry }),
    ...(hint && { retryHint: readRetryHint(hint, forms) }),
    errorMessage: fields.text("error_message"),
  };
}

export function writeToolResult(result: ToolResultData): DataMap {
  const { toolCallId, toolName, parentToolCallId, resultJson, serverData, preview } = result;
  const { bounds, duration, telemetry, retryHint, errorMessage } = result;
  return {
    tool_call_id: toolCallId,
    tool_name: toolName,
    ...(parentToolCallId && { parent_tool_call_id: parentToolCallId }),
    ...(resultJson && { result_json: resultJson }),
    ...(serverData && { server_data: serverData }),
    ...(preview && { preview }),
    ...(bounds && { bounds: writeBounds(bounds) }),
    ...(duration && { duration: shortest(duration) }),
    ...(telemetry && { telemetry }),
    ...(retryHint && { retry_hint: writeRetryHint(retryHint) }),
    ...(errorMessage && { error_message: errorMessage }),
  };
}

/** A number where that is exact, for programs that write JSON themselves. */
function shortest(whole: bigint): number | bigint {
  return typeof whole === "bigint" && Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
}
