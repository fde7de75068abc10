/**
 * Two processes with four writers each append batches to one run. One process is killed 20 times and started again, 50
 * times with each of five seeds with `TEST_LONG=1`. A writer that got no acknowledgement repeats its append with the same
 * id.
 */
import { expect, test } from "vitest";

import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createRuntime } from "../host-under-test.ts";
import { AppendingPair } from "./appending-pair.ts";
import { appendsOfWriter } from "./appending-side.ts";
import { appendIdOf, batchOf } from "./batch.ts";
import { eventsOf, inTime, linesOf, loadPages, neighbours, readStoredRun, sharedRun } from "./stored-run.ts";
import type { StoredEvent, StoredRun } from "./stored-run.ts";

const isLong = process.env["TEST_LONG"] === "1";
const killsCount = isLong ? 50 : 20;
const appendsCount = 8 * appendsOfWriter;

test.for(isLong ? [1, 2, 3, 4, 5] : [1])(
  `every acknowledged append is there once and whole after ${killsCount} kills, seed %i`,
  { timeout: 600_000 },
  async (seed) => {
    using folder = temporaryFolder();
    const startMs = performance.now();
    await using pair = new AppendingPair(folder.path, seededRandom(seed));
    await pair.start();
    while (pair.kills < killsCount) await pair.killOne(killsCount - pair.kills);
    await pair.finish();
    const seconds = ((performance.now() - startMs) / 1000).toFixed(0);

    const stored = readStoredRun(folder.path);
    const events = eventsOf(stored);
    const attempts = expectWholeBatches(events);
    expect(pair.acknowledged.size).toBe(appendsCount);
    expect([...attempts.keys()].toSorted()).toEqual([...pair.acknowledged.keys()].toSorted());
    expectFirstAttempts(attempts, pair);
    expectCounts(stored, events);

    await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["run-history"], threadsMax: 1 });
    const pages = await loadPages(runtime);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(inTime(events));
    expect(await runtime.upkeep.inspect({ userId: sharedRun.userId })).toEqual([]);
    const kept = [...attempts].filter(([id, attempt]) => attempt !== pair.acknowledged.get(id)).length;
    console.log(`seed ${seed}: ${seconds} s, ${events.length} events; ${kept} repeated appends were there already`);
  },
);

/** Returns the stored attempt of each append. */
function expectWholeBatches(events: readonly StoredEvent[]): Map<string, number> {
  const attempts = new Map<string, number>();
  for (const batch of neighbours(events)) {
    const { writer = "", number, attempt } = batch[0]?.labels ?? {};
    const append = { writer, number: Number(number), attempt: Number(attempt) };
    // An event without a time has the call's, and so have all others of the batch.
    const given = batchOf(append);
    const callTime = batch.find((_, at) => given[at]?.timestamp === undefined)?.timestamp;
    const expected = given.map(({ type, timestamp = callTime, data, labels }) => {
      return { type, timestamp, data: JSON.parse(data) as unknown, labels };
    });
    expect(batch).toEqual(expected);
    expect(attempts.has(appendIdOf(append)), `${appendIdOf(append)} is there twice`).toBe(false);
    attempts.set(appendIdOf(append), append.attempt);
  }
  return attempts;
}

/** An append whose answer was lost was already stored, and its repetition has not stored it again. */
function expectFirstAttempts(attempts: ReadonlyMap<string, number>, { lost, acknowledged }: AppendingPair): void {
  expect(lost.size).toBeGreaterThan(0);
  for (const [id, attempt] of attempts) {
    expect(attempt, id).toBeLessThanOrEqual(lost.get(id) ?? acknowledged.get(id) ?? 0);
  }
}

function expectCounts({ head, segments }: StoredRun, events: readonly StoredEvent[]): void {
  const [open = "", closed] = [segments.at(-1), segments.slice(0, -1)];
  expect(head).toMatchObject({
    closedSegments: closed.length,
    closed: countsOf(closed),
    open: countsOf([open]),
    appendIds: appendsCount,
  });
  expect(closed.length).toBeGreaterThan(5);
  expect(countsOf(segments).lines).toBe(events.length);
}

const countsOf = (texts: readonly string[]): { lines: number; bytes: number } => ({
  lines: texts.flatMap(linesOf).length,
  bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
});
