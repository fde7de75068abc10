/**
 * When a thread has begun with a task, told without a message: eight bytes that the thread writes and the other side
 * reads. The clock is the same in all threads.
 */
export type StartStamp = SharedArrayBuffer;

export const newStamp = (): StartStamp => new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);

export function stampStart(stamp: StartStamp): void {
  Atomics.store(new BigInt64Array(stamp), 0, process.hrtime.bigint());
}

/** For how many milliseconds the task has been running; `null` before it does. */
export function runningMs(stamp: StartStamp): number | null {
  const startNs = Atomics.load(new BigInt64Array(stamp), 0);
  return startNs === 0n ? null : Number(process.hrtime.bigint() - startNs) / 1e6;
}
