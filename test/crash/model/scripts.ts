/** Scripts, each for one thing that can go wrong. */
import { seededRandom } from "../../support/seeded-random.ts";
import { erasedSubject } from "../homes/erased.ts";
import { gateSubject } from "../homes/gate.ts";
import { stepsOf } from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import { storeSubject } from "../homes/stores.ts";
import type { Subject } from "../homes/subject.ts";
import { alice, userSubject } from "../homes/user.ts";

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly subject: Subject;
  /** For long scripts: the share of the usual number of states at each point. */
  readonly density?: number;
}

type Table = Readonly<Record<string, string>>;

/** With enough small calls the journal is settled by number, with enough large ones by size. */
const many = (count: number, bytes: number): string =>
  Array.from({ length: count }, (_, at) =>
    at % 7 === 6 ? `delete fact-${at % 5}` : `upsert fact-${at % 5} ${bytes}`,
  ).join("; ");

const ofUser: Table = {
  "first call": "upsert one",
  replace: "upsert one 900; upsert one 1400; upsert one",
  recreate: "upsert one; edit one.md; recreate one; delete one",
  restore: "upsert one; upsert two; delete one; restore one; delete one; close",
  settle: "upsert one; upsert two; close; look; delete one; close; look",
  "edits between calls":
    "upsert one; edit MEMORY.md; edit one.md; upsert two; edit two.md; edit notes.md; upsert one; remove MEMORY.md",
  // The machine starts again before anybody uses the user's files.
  "changes by hand, then a restart":
    "upsert one First; upsert one; upsert two; upsert three; upsert four; upsert four Renamed; copy one.md one First; " +
    "remove two.md; edit three.md; remove four.md; copy five.md four Renamed; edit MEMORY.md; restart; look",
  "removals by hand among calls, then a restart":
    "upsert one First; delete one; save one.md one First; upsert two Second; remove two.md; upsert three; restart; look; " +
    "upsert two; copy two.md two Second; upsert three; restart; look",
  "edit meanwhile": "upsert one; meanwhile MEMORY.md upsert one; meanwhile one.md delete one",
  "two processes":
    "upsert one; process 2; upsert two; process 1; upsert one; process 2; delete one; process 1; look; upsert two",
  "two processes settle":
    "upsert one; process 2; upsert two; close; process 1; upsert one; process 2; look; upsert two; process 1; close; " +
    "process 2; delete two",
  // New frames are written behind a frame that was settled.
  "same places again": "upsert one 1800; restart; look; upsert one 1800; restart; look; upsert one 1800; restart; look",
  // The other process has settled the frames that this one remembers, and has written more.
  "settled meanwhile": `upsert zero; process 2; ${many(67, 300)}; process 1; upsert zero; look`,
  "many small calls": `${many(70, 40)}; look`,
  "many large calls": `${many(24, 7000)}; look`,
  "the journal's flush fails":
    "upsert one; fail segment; upsert two; upsert three; look; fail segment; delete one; upsert one",
  "the first call's flush fails": "fail segment; upsert one; upsert two",
  "a fact's flush fails": "upsert one; upsert two; fail one.md; close; upsert two; close; look; delete one",
  "a folder's flush fails": "upsert one; fail memory; close; look; upsert two; delete one; close",
  "the flush of a segment fails that is being left":
    "upsert one; fail segment; close; upsert two; upsert three; close; look",
};

/** Of each store all or nothing, one after the other. */
const ofStores: Table = {
  "changes of three stores": "put abc one; put abc one 900",
  "move between stores": "put a one; move a b one; move b a one trashed",
  "grants with entries": "grant a b; grant b ac; grant a a",
  "edits between changes of several stores":
    "put ab one; edit b/one.md; put abc two; edit a/two.md; edit c/notes.md; move b c one; remove c/one.md; put ac one",
  "an edit during a change of several stores":
    "put ab one; meanwhile b/index.md put ab two; meanwhile a/one.md move a b one trashed",
  "two processes change several stores":
    "put ab one; process 2; move a c one; process 1; put bc two; process 2; put a three; close; process 1; put abc four; look",
  "an entry's flush fails in one of two stores": "put ab one; fail one.md; close; put ab two; look; close",
};

/** The user is erased, all or nothing. */
const ofErased: Table = {
  erase: "upsert one; upsert note; erase; look",
  "erase, and begin anew": "upsert note; upsert one; close; erase; upsert note; upsert one; process 2; look; erase",
};

/** Writes wait, are approved and rejected, runs lose trust, and changes of a memory and an own store are undone. */
const ofGate: Table = {
  "a rename into another store": "write note; rename note; write note; close; rename note",
  "the first write of a user waits": "wait page; approve",
  "waits, is approved and rejected": "write mine; wait mine; approve; wait other; reject",
  // The long frame has made the segment just as long as it needs.
  "a write is rejected on a full disk": "wait page 9000; fill; reject; look",
  "a write into a store waits": "wait note; approve",
  "a write is approved as it was corrected": "write mine; wait mine; approve corrected",
  "a write into a store is approved as it was corrected": "wait note; approve corrected",
  "a run reads and is trusted less": "infer guess; read guess; write mine; read guess",
  "an undo among writes that wait":
    "write mine; infer guess; wait page; infer mine; infer note; undo; close; approve; read guess",
  "two processes decide":
    "infer guess; wait page; process 2; read guess; wait other; process 1; approve; process 2; reject; close; process 1; " +
    "read guess",
  "the flush of a write that waits fails":
    "write mine; fail segment; wait page; wait page; fail segment; approve; approve",
  "the flush of the folder of writes that wait fails": "write mine; wait page; fail pending; close; look; approve",
};

const densities: Readonly<Record<string, number>> = {
  "many small calls": 0.04,
  "many large calls": 0.1,
  "same places again": 3,
  "settled meanwhile": 0.02,
  "move between stores": 0.4,
  "an undo among writes that wait": 0.5,
  "two processes decide": 0.3,
};

const scriptsOf = (table: Table, subject: Subject): Script[] =>
  Object.entries(table).map(([name, steps]) => ({
    name,
    steps: stepsOf(steps),
    subject,
    density: densities[name] ?? 1,
  }));

export const scripts: readonly Script[] = [
  ...scriptsOf(ofUser, userSubject(alice)),
  ...scriptsOf(ofStores, storeSubject),
  ...scriptsOf(ofErased, erasedSubject),
  ...scriptsOf(ofGate, gateSubject),
];

/** Some steps of every kind, those twice that are to be chosen more often. */
const randomSteps = {
  user:
    "upsert one; upsert two 2900; upsert three 300; upsert one 1700; delete one; delete three; recreate two 60; edit one.md; " +
    "edit two.md; edit MEMORY.md; process 1; process 2; close; look",
  stores:
    "put ab one; put bc two 2900; put abc three 300; put a one 1700; put c two; grant a bc; grant c ab; move a b one; " +
    "move b c two trashed; edit a/one.md; edit b/index.md; process 1; process 2; close; look",
};

/** They are the same for the same seed. */
export function randomScripts(seed: number): Script[] {
  const random = seededRandom(seed);
  const nineOf = (text: string): Step[] => {
    const steps = text.split("; ");
    return stepsOf(Array.from({ length: 9 }, () => steps[Math.floor(random() * steps.length)]).join("; "));
  };
  const [user, stores] = [nineOf(randomSteps.user), nineOf(randomSteps.stores)];
  return [
    { name: `random script of a user ${seed}`, subject: userSubject(alice), density: 0.6, steps: user },
    { name: `random script of stores ${seed}`, subject: storeSubject, density: 0.4, steps: stores },
  ];
}
