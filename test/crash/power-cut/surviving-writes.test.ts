/** The writes that a power cut can lose: the part of the rig that needs neither root nor a disk. */
import { expect, test } from "vitest";

import type { BlockRecord } from "./block-log.ts";
import { survivingWrites } from "./surviving-writes.ts";
import type { PowerCut } from "./surviving-writes.ts";

const flush: BlockRecord = { kind: "flush" };
/** A write of two sectors at its own place. */
const write = (number: number): BlockRecord => ({
  kind: "write",
  offset: number * 1024,
  data: Buffer.alloc(1024, number),
});

const records = [write(0), write(1), flush, write(2), write(3), write(4), flush, write(5)];
const seeds = Array.from({ length: 200 }, (_, seed) => seed);

/** The numbers of the surviving writes, with a dot after one that lost a sector. */
function outcome(cut: PowerCut): string {
  const bytes = new Map<number, number>();
  for (const { offset, data } of survivingWrites(records, cut)) {
    const number = Math.floor(offset / 1024);
    bytes.set(number, (bytes.get(number) ?? 0) + data.length);
    expect(data.every((byte) => byte === number)).toBe(true);
  }
  return Array.from(bytes, ([number, count]) => (count === 1024 ? `${number}` : `${number}.`)).join(" ");
}

const outcomes = (cut: PowerCut): string[] => [...new Set(seeds.map((seed) => outcome({ ...cut, seed })))].toSorted();

const cases: { name: string; cut: PowerCut; left: string[] }[] = [
  { name: "nothing after a flush", cut: { position: 7, survivors: "some" }, left: [""] },
  { name: "all", cut: { position: 6, survivors: "all" }, left: ["2 3 4"] },
  { name: "none", cut: { position: 6, survivors: "none" }, left: [""] },
  { name: "a prefix", cut: { position: 6, survivors: "prefix" }, left: ["", "2", "2 3", "2 3 4"] },
  {
    name: "every subset",
    cut: { position: 6, survivors: "some" },
    left: ["", "2", "2 3", "2 3 4", "2 4", "3", "3 4", "4"],
  },
  { name: "only writes before the cut", cut: { position: 5, survivors: "all" }, left: ["2 3"] },
  { name: "a torn write keeps each part", cut: { position: 8, survivors: "all", torn: true }, left: ["", "5", "5."] },
  {
    name: "one write at most is torn",
    cut: { position: 5, survivors: "all", torn: true },
    left: ["2", "2 3", "2 3.", "2. 3", "3"],
  },
  { name: "before the first record", cut: { position: 0, survivors: "all" }, left: [""] },
];

test.for(cases)("a power cut leaves: $name", ({ cut, left }) => {
  expect(outcomes(cut)).toEqual(left);
});
