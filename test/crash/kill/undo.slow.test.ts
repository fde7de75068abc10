/**
 * SIGKILL at each system call with an effect in an undo of a user's folder and own store. Afterwards each of the two is
 * as before or as after the undo, and the same undo again ends in the same bytes as one that was not killed.
 */
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { twoAtATime } from "../../support/two-at-a-time.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange } from "../syscall-log.ts";
import { callsOf, runKilledAt } from "./killed-run.ts";
import { openUndoRuntime, poisonedRun, writeUndoUser } from "./undo-user.ts";

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
  const points = calls.filter(isChange);
  const failures: unknown[] = [];
  await twoAtATime(points, async (point, at) => {
    const { isKilled } = await runKilledAt(copy(`${at}`), point);
    await using runtime = await openUndoRuntime(place(`${at}`));
    // Finishes what the kill has left.
    await runtime.upkeep.mend(alice);
    const left = partsIn(place(`${at}`));
    const isWhole = left.every((part, index) => [before, after].some((state) => isSame(part, state[index])));
    await runtime.upkeep.undo(alice, { run: poisonedRun });
    const again = await runtime.upkeep.undo(alice, { run: poisonedRun });
    const isNothing = [again.restored, again.trashed, again.derived].every((each) => each.length === 0);
    const isAsAfter = partsIn(place(`${at}`)).every((part, index) => isSame(part, after[index]));
    const findings = await runtime.upkeep.inspect(alice);
    if (isKilled && isWhole && isNothing && isAsAfter && findings.length === 0) return;
    failures.push({ at: point.text, isKilled, isWhole, isNothing, isAsAfter, findings });
  });
  console.log(`undo: ${points.length} kill points`);
  expect(failures).toEqual([]);
  expect(points.length).toBeGreaterThan(20);
}, 600_000);

type Files = Readonly<Record<string, string>>;

/** The files of the user's folder, and those of the own store, without the host's own and the search index. */
const partsIn = (dataDir: string): readonly Files[] => ["users", "stores"].map((name) => filesIn(join(dataDir, name)));

/** A search index has the times of files. */
const isOwn = (path: string): boolean => !/(?:^|\/)(?:\.memcell|_\.index)\//.test(path) && !path.endsWith(".json");

function filesIn(folder: string): Files {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  const files = names.filter((path) => isOwn(path) && statSync(join(folder, path)).isFile()).toSorted();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(folder, path), "latin1")]));
}

const live = (parts: readonly Files[]): Files[] =>
  parts.map((files) => Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes("/trash/"))));

const isSame = (some: Files, others: Files = {}): boolean => JSON.stringify(some) === JSON.stringify(others);
