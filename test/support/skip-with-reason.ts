/** Skips a test that this machine cannot run. Prints the reason, because only the verbose reporter shows it. */
import type { TestContext } from "vitest";

export function skipWithReason(context: TestContext, reason: string): never {
  console.warn(`skipped "${context.task.name}": ${reason}`);
  return context.skip(reason);
}
