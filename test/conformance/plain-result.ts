import type { ToolResult } from "memcell";

/** `blame`, `retryable` and `of` follow from the code; a vector does not repeat the table, or the manifest. */
export function withoutTableFields(result: ToolResult): unknown {
  if (result.ok) return result;
  const { blame: _blame, retryable: _retryable, of: _of, ...error } = result.error;
  return { ok: false, error };
}
