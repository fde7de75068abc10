/** Waits for all flushes, even if one fails: their files must not be closed meanwhile. Throws the first failure. */
export async function settleAll(flushes: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(flushes)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}
