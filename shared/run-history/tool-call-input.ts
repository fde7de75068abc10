import { parseLossless } from "./lossless.ts";
import type { ToolCallData } from "./payloads/tool-call.ts";
import { withoutFaults } from "./run-history-error.ts";

/**
 * Parses the payload of a tool call: the tool's input. Numbers are `LosslessNumber`s, which keep every digit. A blank
 * payload is `null`. Throws a `RunHistoryError` with `JSON_TRAILING_DATA` for a second value, or with `JSON_INVALID`.
 *
 * @example
 * const input = toolCallInput({ payload: '{"q":1,"big":1e400}' });
 * console.log(String(input.q), String(input.big)); // 1 1e400
 */
export function toolCallInput({ payload = "" }: Pick<ToolCallData, "payload">): unknown {
  return payload.trim() === "" ? null : withoutFaults(() => parseLossless(payload));
}
