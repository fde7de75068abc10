/**
 * Two processes with four writers each append batches to one run. One process is killed again and again, and started
 * again. A writer that got no acknowledgement, or whose answer got lost, repeats its append with the same id.
 */
import { expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createRuntime } from "../host-under-test.ts";
import { LoadedPair } from "../kill/loaded-pair.ts";
import { batchOf, sharedRun } from "./batch.ts";
import { eventsOf, inTime, linesOf, loadPages, neighbours, readStoredRun } from "./stored-run.ts";
import type { StoredEvent, StoredRun } from "./stored-run.ts";

const killsCount = isLong ? 50 : 20;
const callersOf = (side: string): Record<string, string[]> =>
  Object.fromEntries([1, 2, 3, 4].map((number) => [`${side}-writer-${number}`, ["batch"]]));

test.for(isLong ? [1, 2, 3, 4, 5] : [1])(
  `every acknowledged append is there once and whole after ${killsCount} kills, seed %i`,
  { timeout: 600_000 },
  async (seed) => {
    using folder = temporaryFolder();
    const callers = [callersOf("left"), callersOf("right")] as const;
    const work = { dataDir: folder.path, kind: "appends", callers, repeats: true } as const;
    using pair = new LoadedPair(work, seededRandom(seed));
    await pair.start();
    while (pair.kills < killsCount) await pair.killOne();
    await pair.stopBoth();

    const stored = readStoredRun(folder.path);
    const events = eventsOf(stored);
    const attempts = expectWholeBatches(events);
    const acknowledged = Array.from(pair.possible).flatMap(([key, last]) => {
      const [writer = ""] = key.split(" ");
      return Array.from({ length: Math.max(...last) }, (_, at) => `${writer}-${at + 1}`);
    });
    expect([...attempts.keys()].toSorted()).toEqual(acknowledged.toSorted());
    expect(pair.lost.size).toBeGreaterThan(0);
    // An append whose answer was lost was already stored, and its repetition has not stored it again.
    for (const [key, attempt] of pair.lost) {
      const [writer, , number] = key.split(" ");
      expect(attempts.get(`${writer}-${number}`), key).toBeLessThanOrEqual(attempt);
    }
    expectCounts(stored, events, acknowledged.length);

    await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["run-history"], threadsMax: 1 });
    const pages = await loadPages(runtime);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(inTime(events));
    expect(await runtime.upkeep.inspect({ userId: sharedRun.userId })).toEqual([]);
    console.log(`seed ${seed}: ${acknowledged.length} appends, ${pair.lost.size} answers were lost`);
  },
);

/** Returns the stored attempt of each append. */
function expectWholeBatches(events: readonly StoredEvent[]): Map<string, number> {
  const attempts = new Map<string, number>();
  for (const batch of neighbours(events)) {
    const { writer = "", number, attempt } = batch[0]?.labels ?? {};
    // An event without a time has the call's, and so have all others of the batch.
    const given = batchOf({ writer, number: Number(number), attempt: Number(attempt) });
    const callTime = batch.find((_, at) => given[at]?.timestamp === undefined)?.timestamp;
    const expected = given.map(({ type, timestamp = callTime, data, labels }) => {
      return { type, timestamp, data: JSON.parse(data) as unknown, labels };
    });
    expect(batch).toEqual(expected);
    const id = `${writer}-${number}`;
    expect(attempts.has(id), `${id} is there twice`).toBe(false);
    attempts.set(id, Number(attempt));
  }
  return attempts;
}

function expectCounts({ head, segments }: StoredRun, events: readonly StoredEvent[], appendIds: number): void {
  const [open = "", closed] = [segments.at(-1), segments.slice(0, -1)];
  const counts = { closedSegments: closed.length, closed: countsOf(closed), open: countsOf([open]), appendIds };
  expect(head).toMatchObject(counts);
  expect(closed.length).toBeGreaterThan(1);
  expect(countsOf(segments).lines).toBe(events.length);
}

const countsOf = (texts: readonly string[]): { lines: number; bytes: number } => ({
  lines: texts.flatMap(linesOf).length,
  bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
});
