/** Ends a test that this machine cannot run. Only the verbose reporter shows a skipped test's note, so it is printed. */
import type { TestContext } from "vitest";

export function skipWithReason(context: TestContext, reason: string): never {
  console.warn(`skipped "${context.task.name}": ${reason}`);
  return context.skip(reason);
}
