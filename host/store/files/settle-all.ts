/**
 * Waits for all of several flushes, also when one has failed: what they flush must not be closed meanwhile. Throws the
 * first failure.
 */
export async function settleAll(flushes: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(flushes)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}
