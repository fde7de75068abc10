import type { ToolResult } from "memcell";

/** `blame` and `retryable` follow from the code; a vector does not repeat the table. */
export function withoutTableFields(result: ToolResult): unknown {
  if (result.ok) return result;
  const { blame: _blame, retryable: _retryable, ...error } = result.error;
  return { ok: false, error };
}
