/**
 * SIGKILL at each system call in turn. Afterwards a change set is there as a whole or not at all, acknowledged changes
 * are there, no file is left behind, and the next process does not have to wait. What a runtime does is done again, and
 * ends as without a kill.
 *
 * By default the suites kill at calls with an effect: those that create, write, move, remove or flush a file, take or
 * release a lock, or print the acknowledgement. Other calls (opening a folder, reading a file) do not change the disk;
 * `TEST_LONG=1` kills there as well.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { afterAll, expect, test } from "vitest";

import { isLong } from "../../stage/seed.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { treeFingerprint } from "../../support/tree-fingerprint.ts";
import { twoAtATime } from "../../support/two-at-a-time.ts";
import { closeRuntimes, statesOf } from "../homes/gate.ts";
import { isOfStores } from "../homes/step.ts";
import { storesBetween } from "../homes/stores.ts";
import { takeStep } from "../homes/subject.ts";
import { boots, filesOn, nothingKept, openPlace, stagedOn, subjects } from "../homes/subjects.ts";
import { readTree } from "../homes/tree.ts";
import type { Files } from "../homes/tree.ts";
import { unlike } from "../model/expected-memory.ts";
import { callsOf, runKilledAt } from "../run-killed-at.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange, isFlush, threadsOf } from "../syscall-log.ts";
import type { SystemCall } from "../syscall-log.ts";
import { bootOf, isUpkeep, prepare, workloadOf } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { editedText, scenarios } from "./scenarios.ts";

const reason = await whyNoTracing();

afterAll(closeRuntimes);

/** Chooses scenarios, and points in each of them. */
export interface Part {
  readonly scenarios: (all: readonly Scenario[]) => readonly Scenario[];
  readonly points: (all: readonly SystemCall[]) => readonly SystemCall[];
}

/** Declares a test for each scenario of a part. */
export function testKills(part: Part): void {
  for (const scenario of part.scenarios(scenarios)) {
    test(
      `a process that is killed anywhere loses nothing in: ${scenario.name}`,
      { timeout: 1_200_000 },
      async (context) => {
        if (reason !== null) skipWithReason(context, reason);
        using folder = temporaryFolder();
        await prepare(scenario, join(folder.path, "template"));
        const { calls, allowed } = await rehearse(scenario, folder.path);
        const all = calls.filter((call) => isLong || isChange(call));
        const points = part.points(all);
        const failures: unknown[] = [];
        let [acknowledged, killed] = [0, 0];
        const killAt = async (point: SystemCall, at: number): Promise<void> => {
          const dataDir = copyOf(folder.path, `${at}`);
          const { name: systemCall, ordinal } = point;
          const threads = threadsOf(point);
          const said = await runKilledAt({ systemCall, ordinal, threads }, workloadOf(scenario, dataDir));
          const isAcknowledged = said.includes("acknowledged\n");
          const faults = await faultsAfterKill(scenario, dataDir, isAcknowledged ? allowed.slice(-1) : allowed);
          if (faults.length > 0) failures.push({ at: point.text, isAcknowledged, faults });
          if (isAcknowledged) acknowledged++;
          else killed++;
        };
        // There is one runtime for all folders.
        if (scenario.of !== "gate") await twoAtATime(points, killAt);
        else for (const [at, point] of points.entries()) await killAt(point, at);
        console.log(`${scenario.name}: ${points.length} of ${all.length} points, ${acknowledged} of them acknowledged`);
        expect(failures).toEqual([]);
        expect(all.length).toBeGreaterThan(5);
        expect(killed + acknowledged).toBe(points.length);
      },
    );
  }
}

function copyOf(folder: string, name: string): string {
  const dataDir = join(folder, name);
  cpSync(join(folder, "template"), dataDir, { recursive: true });
  return dataDir;
}

/** One run without a kill: returns its system calls and the states that a kill may leave, the acknowledged one last. */
async function rehearse(scenario: Scenario, folder: string): Promise<{ calls: SystemCall[]; allowed: Files[] }> {
  const { of, step } = scenario;
  const [subject, dataDir] = [subjects[of], copyOf(folder, "rehearsal")];
  let before: Files = new Map();
  const calls = await callsOf(workloadOf(scenario, dataDir), join(folder, "log"), () => {
    before = filesOn(subject, dataDir);
  });
  if (scenario.flushes !== undefined) expect(flushesBeforeAnswer(calls)).toBe(scenario.flushes);
  const after = filesOn(subject, dataDir);
  expect(await faultsAfterKill(scenario, dataDir, [after])).toEqual([]);
  if ([...before.values()].includes(editedText)) expect([...after.values()]).toContain(editedText);
  if (isUpkeep(scenario)) return { calls, allowed: [after] };
  const disk = { tree: readTree(join(folder, "template")), boot: bootOf(scenario) };
  const during = step.do === "gate" ? (await statesOf(openPlace("", "").host, disk, step)).during : [];
  const between = isOfStores(step) ? storesBetween(before, after, step) : [];
  return { calls, allowed: [before, ...during, ...between, after] };
}

function flushesBeforeAnswer(calls: readonly SystemCall[]): number {
  const answer = calls.findIndex(({ text }) => text.startsWith("writev(1<"));
  return calls.slice(0, answer).filter(({ name }) => isFlush(name)).length;
}

/** Recovers like the next process, which must not have to wait, and uses the folder. */
async function faultsAfterKill(scenario: Scenario, dataDir: string, allowed: readonly Files[]): Promise<string[]> {
  const [subject, boot] = [subjects[scenario.of], bootOf(scenario)];
  await look(scenario, dataDir, boot);
  const faults = [...unlike(allowed, filesOn(subject, dataDir)), ...stagedOn(subject, dataDir)];
  const once = treeFingerprint(dataDir);
  await look(scenario, dataDir, boot);
  if (!isDeepStrictEqual(treeFingerprint(dataDir), once)) faults.push("a second recovery changed something");
  const next = openPlace(dataDir, boot, { kept: nothingKept });
  const { step } = scenario;
  await takeStep(subject, next, step.do === "gate" ? step : subject.callAfterCrash(0, 0), { number: 10, waitMs: 0 });
  const wanted = filesOn(subject, dataDir);
  if (step.do === "gate") faults.push(...unlike(allowed.slice(-1), wanted).map((each) => `done again: ${each}`));
  else if (!Array.from(wanted.keys()).some((key) => key.includes("after-crash"))) faults.push("no call succeeds");
  // A retirement can be running here too, but a further one would leave nothing to recover.
  await takeStep(subject, next, { do: "look" });
  await look(scenario, dataDir, boots[2]);
  faults.push(...unlike([wanted], filesOn(subject, dataDir)).map((each) => `after the next call: ${each}`));
  await next.store.close();
  return faults;
}

/** Does not wait for the lock: the kernel released it when the process died. */
async function look({ of }: Scenario, dataDir: string, boot: string): Promise<void> {
  const place = openPlace(dataDir, boot, { kept: nothingKept });
  await takeStep(subjects[of], place, { do: "look" }, { waitMs: 0 });
  // Waits until a long journal is settled.
  await place.store.close();
}
