import type { ToolResult } from "memcell";

/** `of`, `blame` and `retryable` follow from the code; a vector repeats neither the table nor the manifest. */
export function withoutTableFields(result: ToolResult): unknown {
  if (result.ok) return result;
  const { of: _of, blame: _blame, retryable: _retryable, ...error } = result.error;
  return { ok: false, error };
}
