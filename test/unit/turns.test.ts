/** Work in pieces: whoever waits for a turn gets one, and nothing comes out otherwise than at once. */
import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { atOnce, giveTurn, inTurns, sorted } from "../../host/values/turns.ts";
import type { Pieces } from "../../host/values/turns.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** Computes for some milliseconds, as a piece of work does. */
function compute(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Pieces that note which of several works they belong to. */
function* noting(name: string, pieces: number, noted: string[]): Pieces<string> {
  for (let at = 0; at < pieces; at++) {
    compute(4);
    noted.push(name);
    yield;
  }
  return name;
}

test("works that go on together take turns, and none waits for another's end", async () => {
  const noted: string[] = [];
  const names = ["a", "b", "c"];
  expect(await Promise.all(names.map((name) => inTurns(noting(name, 12, noted))))).toEqual(names);
  const [firstEnd] = names.map((name) => noted.lastIndexOf(name)).toSorted((a, b) => a - b);
  for (const name of names) expect(noted.indexOf(name)).toBeLessThan(firstEnd ?? 0);
});

test("one turn holds no more than one of many works that wait", async () => {
  const noted: string[] = [];
  const working = Promise.all(Array.from({ length: 30 }, (_, at) => inTurns(noting(`${at}`, 2, noted))));
  await setImmediate();
  const before = noted.length;
  await setImmediate();
  // A slice of 10 ms, and the piece that was begun in it.
  expect(noted.length - before).toBeLessThanOrEqual(4);
  await working;
});

test("who asks in a turn that has just begun need not wait", async () => {
  // The turn of the test before ends.
  for (let turn = 0; turn < 2; turn++) await setImmediate();
  expect(giveTurn()).toBeUndefined();
});

test("work that fails closes what it has open, and so does work whose turn fails", async () => {
  const closed: string[] = [];
  function* failing(): Pieces<never> {
    using _open = { [Symbol.dispose]: () => void closed.push("file") };
    yield;
    throw new RangeError("no");
  }
  await expect(inTurns(failing())).rejects.toThrow("no");
  expect(() => atOnce(failing())).toThrow("no");
  expect(closed).toEqual(["file", "file"]);
});

const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key;

test.for([0, 1, 2, 1_023, 1_024, 1_025, 5_000, 8_192])(
  "sorts %d items as the engine does, equal ones in order",
  (count) => {
    const random = seededRandom(count);
    const items = Array.from({ length: count }, (_, at) => ({ key: Math.floor(random() * 50), at }));
    expect(atOnce(sorted(items, byKey))).toEqual(items.toSorted(byKey));
  },
);
