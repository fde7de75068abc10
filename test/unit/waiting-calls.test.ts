import { expect, test } from "vitest";

import { WaitingCalls } from "../../host/call/waiting-calls.ts";

/** The size of one call, in bytes. */
type Arrival = readonly [userId: string, bytes: number];

interface Row {
  readonly name: string;
  readonly limits: { calls: number; bytes: number; callsPerUser: number };
  readonly waiting: readonly Arrival[];
  readonly newcomer: Arrival;
  /** The positions of the waiting calls that give way. */
  readonly givesWay: readonly number[];
  readonly isAdmitted: boolean;
}

const rows: Row[] = [
  { name: "nobody waits", limits: limitsOf(1, 10), waiting: [], newcomer: ["a", 10], givesWay: [], isAdmitted: true },
  {
    name: "there is room",
    limits: limitsOf(2, 10),
    waiting: [["a", 5]],
    newcomer: ["a", 5],
    givesWay: [],
    isAdmitted: true,
  },
  {
    name: "the user's own queue is full",
    limits: { ...limitsOf(9, 99), callsPerUser: 1 },
    waiting: [["a", 1]],
    newcomer: ["a", 1],
    givesWay: [],
    isAdmitted: false,
  },
  {
    name: "all queues are as long as the newcomer's would become",
    limits: limitsOf(2, 99),
    waiting: [
      ["a", 1],
      ["b", 1],
    ],
    newcomer: ["c", 1],
    givesWay: [],
    isAdmitted: false,
  },
  {
    name: "one queue is longer: its newest call gives way",
    limits: limitsOf(3, 99),
    waiting: [
      ["a", 1],
      ["a", 1],
      ["b", 1],
    ],
    newcomer: ["c", 1],
    givesWay: [1],
    isAdmitted: true,
  },
  {
    name: "a queue would become as long as the longest",
    limits: limitsOf(3, 99),
    waiting: [
      ["a", 1],
      ["a", 1],
      ["b", 1],
    ],
    newcomer: ["b", 1],
    givesWay: [],
    isAdmitted: false,
  },
  {
    name: "bytes: as few calls of the heaviest queue as possible give way",
    limits: limitsOf(99, 100),
    waiting: [
      ["a", 40],
      ["a", 20],
      ["b", 10],
      ["b", 10],
      ["a", 20],
    ],
    newcomer: ["c", 30],
    givesWay: [4, 1],
    isAdmitted: true,
  },
  {
    name: "bytes: the heaviest queue would become the lighter one",
    limits: limitsOf(99, 100),
    waiting: [
      ["a", 40],
      ["a", 60],
    ],
    newcomer: ["c", 50],
    givesWay: [],
    isAdmitted: false,
  },
  {
    name: "no call gives way to a newcomer that another limit refuses",
    limits: limitsOf(3, 100),
    waiting: [
      ["a", 1],
      ["a", 1],
      ["b", 90],
    ],
    newcomer: ["c", 80],
    givesWay: [],
    isAdmitted: false,
  },
];

function limitsOf(calls: number, bytes: number): Row["limits"] {
  return { calls, bytes, callsPerUser: 99 };
}

test.for(rows)("WaitingCalls: $name", ({ limits, waiting, newcomer, givesWay, isAdmitted }) => {
  const line = new WaitingCalls(limits);
  const left: number[] = [];
  const admit = ([userId, bytes]: Arrival, at: number): (() => void) =>
    line.admit({ userId, bytes, action: "call X", giveWay: () => left.push(at) });
  const leave = waiting.map(admit);
  if (isAdmitted) admit(newcomer, -1);
  else expect(() => admit(newcomer, -1)).toThrow(expect.objectContaining({ code: "BUSY" }));
  expect(left).toEqual(givesWay);
  // A call that leaves makes room. Leaving twice makes no more room.
  for (const each of [...leave, ...leave]) each();
  const all: Arrival = ["z", limits.bytes];
  if (isAdmitted) expect(() => admit(all, -2)).toThrow(expect.objectContaining({ code: "BUSY" }));
  else admit(all, -2);
});
