/**
 * A store, and a whole runtime, under power cuts, block by block: whatever the disk has kept, the next start finds every
 * acknowledged change, and all or nothing of an unfinished one. What a runtime was doing is done again, and ends as
 * without a cut.
 *
 * `TEST_LONG=1` tries twenty times as many states, `TEST_SEEDED=1` a third.
 */
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { isLong, seed } from "../../stage/seed.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { closeRuntimes, statesFrom } from "../homes/gate.ts";
import { takeStep } from "../homes/subject.ts";
import { boots, filesOn, openPlace, stagedOn } from "../homes/subjects.ts";
import type { Boot } from "../homes/subjects.ts";
import type { Files } from "../homes/tree.ts";
import { afterEdit, differences } from "../model/expected-memory.ts";
import type { Expected } from "../model/expected-memory.ts";
import { afterCrash } from "./after-crash.ts";
import type { BlockLog } from "./block-log.ts";
import { fileSystems } from "./file-systems.ts";
import type { FileSystemKind } from "./file-systems.ts";
import { loggedDisk } from "./logged-disk.ts";
import type { LoggedDisk } from "./logged-disk.ts";
import { act } from "./person.ts";
import type { Act } from "./person.ts";
import { acknowledgedAt, sampledCuts } from "./sampled-cuts.ts";
import type { SparseImage } from "./sparse-image.ts";
import { workloads } from "./workloads.ts";
import type { Workload } from "./workloads.ts";

const scale = isLong ? 10 : process.env["TEST_SEEDED"] === "1" ? 1 / 3 : 0.5;
const statesOf = (kind: FileSystemKind): number => (kind === "ext4" ? 150 : 50) * scale;
const kinds = Object.keys(fileSystems) as FileSystemKind[];
const [recoveriesCount, statesPerRecovery] = [4, 15];

/** By subject. */
type State = readonly Files[];

const dataDirOn = (mountPoint: string): string => join(mountPoint, "data");
const stateOn = ({ subjects }: Workload, mountPoint: string): State =>
  subjects.map((subject) => filesOn(subject, dataDirOn(mountPoint)));

/**
 * Takes all steps, in turns of two stores, like two processes. Sets a mark with their number after each answer, and
 * returns what was there then.
 */
async function perform(workload: Workload, disk: LoggedDisk): Promise<State[]> {
  const openBoth = () => [0, 1].map(() => openPlace(dataDirOn(disk.mountPoint), boots[0]));
  // Whatever comes before is the file system's own.
  disk.mark("0");
  const answered = [stateOn(workload, disk.mountPoint)];
  let places = openBoth();
  const closeBoth = async (): Promise<void> => {
    for (const { store } of places) await store.close();
  };
  for (const [at, [of, step]] of workload.steps.entries()) {
    if (at === workload.reopensBefore) {
      await closeBoth();
      places = openBoth();
    }
    const [subject, place] = [workload.subjects[of], places[at % 2]];
    if (subject && place) await takeStep(subject, place, step, { number: at + 1 });
    disk.mark(`${at + 1}`);
    answered.push(stateOn(workload, disk.mountPoint));
  }
  await closeBoth();
  disk.mark(`${workload.steps.length}`);
  return answered;
}

async function logOf(kind: FileSystemKind, workload: Workload): Promise<{ log: BlockLog; answered: State[] } | string> {
  const disk = await loggedDisk(kind);
  if (typeof disk === "string") return disk;
  using held = disk;
  const answered = await perform(workload, held);
  return { log: held.log, answered };
}

/** What a cut may leave after so many answers. */
function allowedAfter({ steps }: Workload, answered: readonly State[], acknowledged: number): State[] {
  const [before, after] = answered.slice(acknowledged);
  const [, step] = steps[acknowledged] ?? [];
  if (before === undefined || after === undefined) return before ? [before] : [];
  const isOfGate = step?.do === "gate";
  const during = isOfGate ? statesFrom(before[0] ?? new Map(), after[0] ?? new Map(), step).during : [];
  return [before, ...during.map((files) => [files]), after];
}

/** The differences from the nearest of some states. A person has acted on files of the first subject. */
function unlikeAll(allowed: readonly State[], found: State, acted: Act | null = null): string[] {
  const wrong = allowed.map((state) =>
    state.flatMap((files, of) => {
      const edits = of === 0 ? Object.entries(acted?.made ?? {}) : [];
      const plain: Expected = { name: "", files, edits: new Map() };
      const expected = edits.reduce((each, [key, text]) => afterEdit(each, key, text), plain);
      return differences(expected, found[of] ?? new Map(), "in place or in the trash");
    }),
  );
  return wrong.some((each) => each.length === 0) ? [] : wrong.flat();
}

/** Recovers one subject after the other with a new store. */
async function recover(
  { subjects }: Workload,
  mountPoint: string,
  { boot, onSubject = () => {} }: { readonly boot: Boot; readonly onSubject?: (at: number) => void },
): Promise<string[]> {
  const place = openPlace(dataDirOn(mountPoint), boot);
  for (const [at, subject] of subjects.entries()) {
    await takeStep(subject, place, { do: "look" });
    onSubject(at);
  }
  await place.store.close();
  return subjects.flatMap((subject) => stagedOn(subject, place.path));
}

/** Checks that what was recovered can be used: by the interrupted operation of a runtime, or by a further call. */
async function useAgain(
  workload: Workload,
  mountPoint: string,
  interrupted: number,
  wanted?: State,
): Promise<string[]> {
  const place = openPlace(dataDirOn(mountPoint), boots[2]);
  const [, step] = workload.steps[interrupted] ?? [];
  const subject = workload.subjects[interrupted % workload.subjects.length];
  const isAgain =
    step?.do === "gate" && wanted !== undefined && unlikeAll([wanted], stateOn(workload, mountPoint)).length > 0;
  if (subject) await takeStep(subject, place, isAgain ? step : subject.callAfterCrash(0, 0), { number: 99 });
  await place.store.close();
  return isAgain ? unlikeAll([wanted], stateOn(workload, mountPoint)).map((each) => `again: ${each}`) : [];
}

/** One after the other: there is one runtime for all disks. */
let turn: Promise<unknown> = Promise.resolve();
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = turn.then(work);
  turn = result.catch(() => {});
  return result;
}

const rows = workloads.flatMap((workload) => kinds.map((kind) => ({ kind, of: workload.name, workload })));

describe("after a power cut", { timeout: 1_200_000 }, () => {
  // The first disk of a kind can have to install packages.
  beforeAll(async () => {
    for (const kind of kinds) {
      const disk = await loggedDisk(kind);
      if (typeof disk !== "string") disk[Symbol.dispose]();
    }
  }, 600_000);
  afterAll(closeRuntimes);

  test.for(rows)("on $kind all that was answered by $of is there, and nothing in part", async (row, context) => {
    const { kind, workload } = row;
    const done = await logOf(kind, workload);
    if (typeof done === "string") skipWithReason(context, done);
    const { log, answered } = done;
    using crash = afterCrash(log);
    const cuts = [...sampledCuts(log, { count: statesOf(kind), seed, mayTear: kind.startsWith("ext4") })];
    const faults: unknown[] = [];
    let interrupted = 0;
    const [first] = workload.subjects;
    const older = answered.flatMap(([files]) => [...(files?.values() ?? [])]);
    await crash.mountEach(cuts, async (folder, cut) => {
      const acknowledged = acknowledgedAt(log, cut.position);
      if (acknowledged < workload.steps.length) interrupted++;
      const number = cut.seed ?? 0;
      // After every other cut, a person is faster than the host.
      const isActed = first !== undefined && first.isEdited !== false && number % 2 === 0;
      const acted = isActed ? act(first, dataDirOn(folder), number, older) : null;
      const work = async (): Promise<string[]> => {
        const left = await recover(workload, folder, { boot: boots[1] });
        const found = unlikeAll(allowedAfter(workload, answered, acknowledged), stateOn(workload, folder), acted);
        return [...left, ...found, ...(await useAgain(workload, folder, acknowledged, answered[acknowledged + 1]))];
      };
      const found = workload.subjects.length === 1 ? await inTurn(work) : await work();
      if (found.length > 0) faults.push({ cut, acknowledged, acted, found });
    });
    console.log(
      `${kind}, ${row.of}: ${cuts.length} states, ${interrupted} of them in a step, ${log.records.length} records`,
    );
    expect(faults).toEqual([]);
  });

  test("a power cut during recovery loses nothing either", async (context) => {
    const workload = workloads[0] as Workload;
    const done = await logOf("ext4", workload);
    if (typeof done === "string") skipWithReason(context, done);
    const { log, answered } = done;
    using crash = afterCrash(log);
    const faults: unknown[] = [];
    for (const cut of sampledCuts(log, { count: recoveriesCount * Math.max(1, scale), seed, mayTear: true })) {
      const recovering = await recoveryLog(workload, crash.image(cut));
      if (typeof recovering === "string") skipWithReason(context, recovering);
      using crashAgain = afterCrash(recovering.log);
      const cutsAgain = sampledCuts(recovering.log, { count: statesPerRecovery, seed: seed + 1, mayTear: false });
      await crashAgain.mountEach(cutsAgain, async (folder, again) => {
        const found = await recover(workload, folder, { boot: boots[2] });
        const state = stateOn(workload, folder);
        found.push(...unlikeAll(allowedAfter(workload, answered, acknowledgedAt(log, cut.position)), state));
        // Files that a recovery has shown must not change.
        for (const seen of recovering.log.marksBefore(again.position)) {
          const shown = recovering.shown[Number(seen)];
          if (shown) found.push(...unlikeAll([[shown]], state.slice(Number(seen))).map((each) => `was shown: ${each}`));
        }
        if (found.length > 0) faults.push({ cut, again, found });
      });
    }
    expect(faults).toEqual([]);
  });
});

/** Recovers one subject after the other on a logged disk, and sets a mark after reading each one's files. */
async function recoveryLog(
  workload: Workload,
  content: SparseImage,
): Promise<{ log: BlockLog; shown: State } | string> {
  const disk = await loggedDisk("ext4", { content });
  if (typeof disk === "string") return disk;
  using held = disk;
  const shown: Files[] = [];
  await recover(workload, held.mountPoint, {
    boot: boots[1],
    onSubject: (at) => {
      held.mark(`${at}`);
      shown.push(stateOn(workload, held.mountPoint)[at] ?? new Map());
    },
  });
  return { log: held.log, shown };
}
