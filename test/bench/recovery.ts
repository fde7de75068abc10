/**
 * How soon other users are served again: after a guest's thread was terminated, and while another user floods the
 * queue. Returns plain numbers; `recovery-section.ts` makes a table of them.
 */
import { openBoundedStage } from "../bounds/bounded-stage.ts";
import type { BoundedStage } from "../bounds/bounded-stage.ts";

const roundsCount = 20;
const floodedCallsCount = 500;

/** Milliseconds, one per repetition. */
export type Times = readonly number[];

export interface Recovery {
  /** From `DEADLINE_EXCEEDED` to the next answer, with a pool of one thread. */
  readonly afterKillOneThread: Times;
  /** With a pool of two threads: to the next answer, and until both threads have answered. */
  readonly afterKillTwoThreads: Times;
  readonly wholeAfterKillTwoThreads: Times;
  /** A quiet user's call with one thread: alone, and while 500 calls of another user wait. */
  readonly quietAlone: Times;
  readonly quietInFlood: Times;
}

export async function measureRecovery(): Promise<Recovery> {
  const one = await measureKills(1);
  const two = await measureKills(2);
  return {
    afterKillOneThread: one.next,
    afterKillTwoThreads: two.next,
    wholeAfterKillTwoThreads: two.whole,
    ...(await measureFlood()),
  };
}

async function measureKills(threadsMax: number): Promise<{ next: Times; whole: Times }> {
  await using stage = await openBoundedStage({ threadsMax, deadlineMs: 100 });
  const next: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < roundsCount; round++) {
    const ended = await stage.spin(`hung-${round}`);
    if (ended.ok || ended.error.code !== "DEADLINE_EXCEEDED") throw new Error(JSON.stringify(ended));
    const startMs = performance.now();
    const served = Array.from({ length: threadsMax }, async (_, at) => {
      await expectOk(stage.write(`quiet-${at}`, "a.md"));
      return performance.now() - startMs;
    });
    const times = await Promise.all(served);
    next.push(Math.min(...times));
    whole.push(Math.max(...times));
  }
  return { next, whole };
}

/** Calls alone and calls in the flood alternate, so that the machine's noise affects both. */
async function measureFlood(): Promise<{ quietAlone: Times; quietInFlood: Times }> {
  await using stage = await openBoundedStage({ queuedCallsPerUserMax: floodedCallsCount + 1 });
  const alone: number[] = [];
  const flooded: number[] = [];
  for (let round = 0; round < roundsCount; round++) {
    alone.push(await timeQuietCall(stage));
    const controller = new AbortController();
    const flood = Array.from({ length: floodedCallsCount }, (_, at) =>
      stage.write("flooding", `${at % 10}.md`, controller.signal),
    );
    // The first calls run, and the others wait.
    await flood[1];
    flooded.push(await timeQuietCall(stage));
    controller.abort();
    await Promise.all(flood);
  }
  return { quietAlone: alone, quietInFlood: flooded };
}

async function timeQuietCall(stage: BoundedStage): Promise<number> {
  const startMs = performance.now();
  await expectOk(stage.write("quiet", "a.md"));
  return performance.now() - startMs;
}

async function expectOk(call: ReturnType<BoundedStage["write"]>): Promise<void> {
  const result = await call;
  if (!result.ok) throw new Error(result.error.message);
}
