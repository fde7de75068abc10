/**
 * SIGKILL at each system call with an effect in an undo of a user's folder and own store. Afterwards each of the two is
 * as before or as after the undo, and the same undo again ends in the same bytes as one that was not killed. By default
 * every fifth call; `TEST_LONG=1` takes all.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { twoAtATime } from "../../support/two-at-a-time.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange } from "../syscall-log.ts";
import { describeFiles, filesOf, withoutCopies } from "../user-state.ts";
import type { Files } from "../user-state.ts";
import { callsOf, runKilledAt } from "./killed-run.ts";
import { openUndoRuntime, poisonedRun, writeUndoUser } from "./undo-user.ts";

const isLong = process.env["TEST_LONG"] === "1";
const reason = await whyNoTracing();
const alice = { userId: "alice" };

test("an undo that is killed anywhere is whole or not there, and again ends in the same bytes", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const place = (name: string): string => join(folder.path, name);
  await writeUndoUser(place("template"), true);
  await writeUndoUser(place("twin"), false);
  const copy = (name: string) => {
    cpSync(place("template"), place(name), { recursive: true });
    return { script: "kill/undo-workload.js", workload: { dataDir: place(name) } };
  };
  const before = partsIn(place("template"));
  const rehearsed = copy("rehearsal");
  const calls = await callsOf(rehearsed, place("log"), () => {});
  const after = partsIn(place("rehearsal"));
  expect(live(after)).toEqual(live(partsIn(place("twin"))));
  const points = calls.filter(isChange).filter((_, at) => isLong || at % 5 === 0);
  const failures: unknown[] = [];
  await twoAtATime(points, async (point, at) => {
    const { isKilled } = await runKilledAt(copy(`${at}`), point);
    await using runtime = await openUndoRuntime(place(`${at}`));
    // Finishes what the kill has left.
    await runtime.upkeep.export(alice);
    const left = partsIn(place(`${at}`));
    const isWhole = left.every((part, index) =>
      [before, after].some((state) => isSame(part, state[index], before[index])),
    );
    await runtime.upkeep.undo(alice, { run: poisonedRun });
    const again = await runtime.upkeep.undo(alice, { run: poisonedRun });
    const isNothing = [again.restored, again.trashed, again.derived].every((each) => each.length === 0);
    const isAsAfter = partsIn(place(`${at}`)).every((part, index) => isSame(part, after[index], before[index]));
    const findings = await runtime.upkeep.inspect(alice);
    if (isKilled && isWhole && isNothing && isAsAfter && findings.length === 0) return;
    failures.push({ at: point.text, isKilled, isWhole, isNothing, isAsAfter, findings });
  });
  console.log(`undo: ${points.length} kill points`);
  expect(failures).toEqual([]);
  expect(points.length).toBeGreaterThan(20);
}, 1_800_000);

/** The files of the user's folder, and those of the own store. A search index has the times of files. */
function partsIn(dataDir: string): readonly Files[] {
  const files = Object.entries(filesOf(dataDir)).filter(([path]) => !path.includes("/_.index/"));
  return [false, true].map((isStore) =>
    Object.fromEntries(files.filter(([path]) => path.startsWith("stores/") === isStore)),
  );
}

const live = (parts: readonly Files[]): Files[] =>
  parts.map((files) => Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes("/trash/"))));

/** Recovery can put copies of what it replaces into the trash. */
const isSame = (found: Files, wanted: Files = {}, earlier: Files = {}): boolean =>
  describeFiles(withoutCopies(found, wanted, [earlier])) === describeFiles(wanted);
