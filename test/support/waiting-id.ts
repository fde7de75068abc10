import type { ToolResult } from "memcell";

/** The id under which a call's write waits. Throws if it does not wait. */
export function waitingId(answer: ToolResult): string {
  if (answer.ok || answer.pending === undefined) throw new Error(`It does not wait: ${JSON.stringify(answer)}`);
  return answer.pending.id;
}
