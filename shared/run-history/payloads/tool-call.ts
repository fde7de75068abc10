import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";

/** A tool call that an agent has scheduled. */
export interface ToolCallData {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The call that this one belongs to. Default: none. */
  readonly parentToolCallId?: string;
  /** The tool's input as JSON text, kept byte for byte. Default: none. */
  readonly payload?: string;
  /** The queue that the call was scheduled on. Default: none. */
  readonly queue?: string;
  /** How many calls are expected below this one. Default: 0. */
  readonly expectedChildrenTotal?: number;
}

export function readToolCall(data: unknown, forms: Forms): Required<ToolCallData> {
  const fields = new DataFields("tool_call", data, forms);
  return {
    toolCallId: fields.requiredText("tool_call_id"),
    toolName: fields.requiredText("tool_name"),
    parentToolCallId: fields.text("parent_tool_call_id"),
    payload: fields.jsonText("payload"),
    queue: fields.text("queue"),
    expectedChildrenTotal: fields.int("expected_children_total"),
  };
}

export function writeToolCall(call: ToolCallData): DataMap {
  const { toolCallId, toolName, parentToolCallId, payload, queue, expectedChildrenTotal } = call;
  return {
    tool_call_id: toolCallId,
    tool_name: toolName,
    ...(parentToolCallId && { parent_tool_call_id: parentToolCallId }),
    ...(payload && { payload }),
    ...(queue && { queue }),
    ...(expectedChildrenTotal && { expected_children_total: expectedChildrenTotal }),
  };
}
