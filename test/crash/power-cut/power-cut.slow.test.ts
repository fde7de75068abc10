/**
 * Power cuts, block by block: whatever a real file system has kept, the next start finds every acknowledged change, and
 * all or nothing of an unfinished one. After every other cut, a person is faster than the host and writes into a file.
 *
 * `TEST_LONG=1` tries fifty times as many states.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { isLong, seed } from "../../stage/seed.ts";
import type { UserId } from "../../stage/store.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { closeRuntimes, statesFrom } from "../homes/gate.ts";
import { isOfStores, stepOf } from "../homes/step.ts";
import { storesBetween } from "../homes/stores.ts";
import { takeStep } from "../homes/subject.ts";
import { boots, filesOn, openPlace, stagedOn, subjects } from "../homes/subjects.ts";
import type { Files } from "../homes/tree.ts";
import { userSubject } from "../homes/user.ts";
import { afterEdit, differences, nothingExpected, unlike } from "../model/expected-memory.ts";
import { fileSystems } from "./file-systems.ts";
import type { FileSystemKind } from "./file-systems.ts";
import { logDisk } from "./logged-disk.ts";
import type { BlockLog } from "./logged-disk.ts";
import { cutPower } from "./power-cuts.ts";

const scale = isLong ? 10 : 0.2;
const kinds = Object.keys(fileSystems) as FileSystemKind[];

/** By their places in a state: the user of a whole runtime, another user, and some stores. */
const homes = { gate: subjects.gate, user: userSubject("Ünïcode." as UserId), stores: subjects.stores };
const all = Object.values(homes);
type State = readonly Files[];

/** Large texts take several blocks, so that they can survive in part. */
const steps: readonly (readonly [of: keyof typeof homes, words: string])[] = [
  ["gate", "wait first"],
  ["user", "upsert a first"],
  ["stores", "put ab one"],
  ["gate", "approve"],
  ["user", "upsert long 60000"],
  ["stores", "put ab one 60000"],
  ["gate", "infer guess"],
  ["user", "upsert a first, replaced"],
  ["gate", "read guess"],
  ["stores", "grant a bc granted"],
  ["gate", "wait other 60000"],
  ["user", "recreate a mended"],
  ["gate", "infer note 60000"],
  ["gate", "undo"],
  ["user", "delete a"],
  ["stores", "move a c one trashed"],
  ["gate", "approve"],
  ["user", "restore a"],
  ["gate", "wait more"],
  ["gate", "reject"],
  ["user", "upsert long no longer long"],
  ["stores", "put abc two"],
];
/** Before this step the stores are closed, which retires all WALs, and opened again. */
const reopensBefore = 11;

const dataDirOn = (mountPoint: string): string => join(mountPoint, "data");
const stateOn = (mountPoint: string): State => all.map((home) => filesOn(home, dataDirOn(mountPoint)));

/** Takes all steps, in turns of two stores, like two processes. Sets a mark after each, and notes what is there then. */
async function logOf(
  kind: FileSystemKind,
  durability: "full" | "relaxed" = "full",
): Promise<{ log: BlockLog; answered: State[] } | string> {
  const answered: State[] = [];
  const log = await logDisk(kind, async (mountPoint, mark) => {
    const open = () => [0, 1].map(() => openPlace(dataDirOn(mountPoint), boots[0], { durability }));
    const close = async (): Promise<void> => {
      for (const { store } of places) await store.close();
    };
    const note = (): void => {
      mark();
      answered.push(stateOn(mountPoint));
    };
    let places = open();
    // Whatever comes before is the file system's own.
    note();
    for (const [at, [of, words]] of steps.entries()) {
      if (at === reopensBefore) {
        await close();
        places = open();
      }
      const place = places[at % 2];
      if (place) await takeStep(homes[of], place, stepOf(words, at), { number: at + 1 });
      note();
    }
    await close();
    note();
  });
  return typeof log === "string" ? log : { log, answered };
}

/** What a cut may leave after so many marks. */
function allowedAfter(answered: readonly State[], marks: number): State[] {
  if (marks === 0) return [all.map(() => new Map())];
  const [before, after] = answered.slice(marks - 1);
  if (before === undefined || after === undefined) return before ? [before] : [];
  const [of, words] = steps[marks - 1] ?? [];
  const step = words === undefined ? null : stepOf(words);
  const [gateBefore = new Map(), gateAfter = new Map()] = [before[0], after[0]];
  const during = of === "gate" && step?.do === "gate" ? statesFrom(gateBefore, gateAfter, step).during : [];
  const between =
    step !== null && isOfStores(step) ? storesBetween(before[2] ?? new Map(), after[2] ?? new Map(), step) : [];
  return [
    before,
    ...during.map((files) => before.with(0, files)),
    ...between.map((files) => before.with(2, files)),
    after,
  ];
}

const byHand = "A person's words.\n";

/** Writes into one of the second home's files, for every other seed. Returns which one. */
function editByHand(mountPoint: string, number: number): string | null {
  const { user } = homes;
  const paths = Array.from(filesOn(user, dataDirOn(mountPoint)).keys()).filter((path) => !path.startsWith("trash/"));
  const path = number % 2 === 0 ? undefined : paths[(number >> 1) % paths.length];
  if (path === undefined) return null;
  writeFileSync(join(dataDirOn(mountPoint), ...(user.placeOf?.(path) ?? [])), byHand);
  return path;
}

/** The differences from the nearest of some states. A person's words in `edited` must be in place or in the trash. */
function unlikeAll(allowed: readonly State[], found: State, edited: string | null): string[] {
  const wrong = allowed.map((state) =>
    state.flatMap((files, at) => {
      const expected = { ...nothingExpected, files };
      const isEdited = edited !== null && all[at] === homes.user;
      const wanted = isEdited ? afterEdit(expected, edited, byHand) : expected;
      return differences(wanted, found[at] ?? new Map(), "in place or in the trash");
    }),
  );
  return wrong.some((each) => each.length === 0) ? [] : wrong.flat();
}

/** Recovers each home with a new store, and uses it. */
async function faultsOn(mountPoint: string, allowed: readonly State[], edited: string | null): Promise<string[]> {
  const place = openPlace(dataDirOn(mountPoint), boots[1]);
  for (const home of all) await takeStep(home, place, { do: "look" });
  await place.store.close();
  const staged = all.flatMap((home) => stagedOn(home, place.path));
  const faults = [...staged, ...unlikeAll(allowed, stateOn(mountPoint), edited)];
  const later = openPlace(dataDirOn(mountPoint), boots[2]);
  for (const home of all) await takeStep(home, later, home.callAfterCrash(0, 0), { number: 99 });
  await later.store.close();
  return faults;
}

describe("after a power cut", { timeout: 1_200_000 }, () => {
  afterAll(closeRuntimes);

  test.for(kinds)("on %s all that was answered is there, and nothing in part", async (kind, context) => {
    const done = await logOf(kind);
    if (typeof done === "string") skipWithReason(context, done);
    const { log, answered } = done;
    const faults: unknown[] = [];
    let edits = 0;
    await cutPower(log, { count: (kind === "ext4" ? 150 : 50) * scale, seed }, async (folder, cut) => {
      const edited = editByHand(folder, cut.seed);
      if (edited !== null) edits++;
      const found = await faultsOn(folder, allowedAfter(answered, cut.marks), edited);
      if (found.length > 0) faults.push({ cut, edited, found });
    });
    expect(faults).toEqual([]);
    expect(edits).toBeGreaterThan(0);
    expect(log.records.length).toBeGreaterThan(100);
  });

  test.for(kinds)("on %s it is found if a store does not wait for its flushes", async (kind, context) => {
    const done = await logOf(kind, "relaxed");
    if (typeof done === "string") skipWithReason(context, done);
    let losses = 0;
    await cutPower(done.log, { count: 12, seed }, async (folder, { marks }) => {
      const place = openPlace(dataDirOn(folder), boots[1]);
      await takeStep(homes.user, place, { do: "look" });
      await place.store.close();
      const allowed = allowedAfter(done.answered, marks).map(([, files = new Map()]) => files);
      if (unlike(allowed, filesOn(homes.user, place.path), "in place or in the trash").length > 0) losses++;
    });
    expect(losses).toBeGreaterThan(0);
  });
});
