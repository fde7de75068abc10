/**
 * SIGKILL at system calls with an effect in an undo of a user's folder and own store. Afterwards each of the two is as
 * before or as after the undo, and the same undo again ends in the same bytes as one that was not killed.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { oneIn } from "../../stage/seed.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { twoAtATime } from "../../support/two-at-a-time.ts";
import { filesBelow, readTree } from "../homes/tree.ts";
import type { Files } from "../homes/tree.ts";
import { unlike } from "../model/expected-memory.ts";
import { callsOf, runKilledAt } from "../run-killed-at.ts";
import { compiledScript } from "../store-under-test.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange, threadsOf } from "../syscall-log.ts";
import { openUndoRuntime, poisonedRun, writeUndoUser } from "./undo-user.ts";

const reason = await whyNoTracing();
const alice = { userId: "alice" };
const workload = compiledScript("kill/undo-workload.js");

test("an undo that is killed anywhere is whole or not there, and again ends in the same bytes", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const place = (name: string): string => join(folder.path, name);
  await writeUndoUser(place("template"), true);
  await writeUndoUser(place("twin"), false);
  const copy = (name: string): readonly [string] => {
    cpSync(place("template"), place(name), { recursive: true });
    return [place(name)];
  };
  const before = partsIn(place("template"));
  const calls = await callsOf(workload, copy("rehearsal"), { logFile: place("log"), onReady: () => {} });
  const after = partsIn(place("rehearsal"));
  expect(after.map(live)).toEqual(partsIn(place("twin")).map(live));
  const all = calls.filter(isChange);
  const points = oneIn(12, all);
  const failures: unknown[] = [];
  let killed = 0;
  await twoAtATime(points, async (point, at) => {
    const { name: systemCall, ordinal } = point;
    const said = await runKilledAt({ systemCall, ordinal, threads: threadsOf(point) }, workload, copy(`${at}`));
    await using runtime = await openUndoRuntime(place(`${at}`));
    // Finishes what the kill has left.
    await runtime.upkeep.export(alice);
    const left = partsIn(place(`${at}`)).flatMap((part, index) => unlike(whole(before, after, index), part));
    await runtime.upkeep.undo(alice, { run: poisonedRun });
    const again = await runtime.upkeep.undo(alice, { run: poisonedRun });
    const done = [again.restored, again.trashed, again.derived].flat();
    const ended = partsIn(place(`${at}`)).flatMap((part, index) => unlike(after.slice(index, index + 1), part));
    const findings = await runtime.upkeep.inspect(alice);
    // A run that retires its log at another time has no such call, and ends by itself.
    if (!said.includes("acknowledged")) killed++;
    if ([left, done, ended, findings].some((each) => each.length > 0))
      failures.push({ at: point.text, said, left, done, ended, findings });
  });
  console.log(`undo: killed at ${killed} of ${points.length} points, ${all.length} in all`);
  expect(failures).toEqual([]);
  expect(all.length).toBeGreaterThan(20);
  expect(killed).toBeGreaterThan(points.length / 2);
}, 1_800_000);

/** The files of the user's folder, and those of the own store. A search index has the times of files. */
function partsIn(dataDir: string): readonly Files[] {
  const tree = readTree(dataDir);
  const ofStores = Array.from(filesBelow(tree, ["stores"])).filter(
    ([path]) => !/\/(?:_\.index|\.memcell)\//.test(path),
  );
  return [filesBelow(tree, ["users", "alice", "memory"]), new Map(ofStores)];
}

const whole = (before: readonly Files[], after: readonly Files[], index: number): Files[] =>
  [before, after].flatMap((state) => state.slice(index, index + 1));

const live = (files: Files): unknown =>
  Object.fromEntries(Array.from(files).filter(([path]) => !/(?:^|\/)trash\//.test(path)));
