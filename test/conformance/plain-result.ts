import type { ToolResult } from "memcell";

/** Removes `of`, `blame` and `retryable`: they follow from the code, so vectors do not repeat them. */
export function withoutTableFields(result: ToolResult): unknown {
  if (result.ok) return result;
  const { of: _of, blame: _blame, retryable: _retryable, ...error } = result.error;
  return { ok: false, error };
}
