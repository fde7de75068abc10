/**
 * SIGKILL at each system call in turn. Afterwards a change set is there as a whole or not at all, acknowledged changes
 * are there, no file is left behind, and the next process does not have to wait.
 *
 * By default the suite kills at every call with an effect: one that creates, writes, moves, removes or flushes a file,
 * takes or releases a lock, or prints the acknowledgement. Other calls (opening a folder, reading a file) do not change
 * the disk; `TEST_LONG=1` kills there as well. Where a sweep takes only every third or fifth of them, it says so, and
 * `TEST_LONG=1` takes all.
 */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { twoAtATime } from "../../support/two-at-a-time.ts";
import { areas } from "../areas.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange } from "../syscall-log.ts";
import type { SystemCall } from "../syscall-log.ts";
import { filesOf } from "../user-state.ts";
import type { Files } from "../user-state.ts";
import { faultsAfterKill } from "./after-kill.ts";
import type { Place } from "./after-kill.ts";
import { callsOf, runKilledAt } from "./killed-run.ts";
import type { KillableProcess } from "./killed-run.ts";
import { storeProcess } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { editedText } from "./scenarios.ts";

const isLong = process.env["TEST_LONG"] === "1";
const isWhole = isLong || process.env["TEST_SEEDED"] !== undefined;
const reason = await whyNoTracing();

/** Declares a test for each scenario. `every`: kills at each so many-th of the calls; long and seeded runs, at all. */
export function testKills(scenarios: readonly Scenario[], every = 1): void {
  test.for(scenarios)(
    "a process that is killed anywhere loses nothing in: $name",
    { timeout: isLong ? 1_200_000 : 300_000 },
    async (scenario, context) => {
      if (reason !== null) skipWithReason(context, reason);
      using folder = temporaryFolder();
      const template = join(folder.path, "template");
      await scenario.prepare(template);
      const copy = (name: string): string => {
        const dataDir = join(folder.path, name);
        if (existsSync(template)) cpSync(template, dataDir, { recursive: true });
        return dataDir;
      };
      const { calls, allowed } = await rehearse(scenario, copy("rehearsal"), join(folder.path, "log"));
      const points = calls.filter((call) => isLong || isChange(call)).filter((_, at) => isWhole || at % every === 0);
      const failures: unknown[] = [];
      let acknowledged = 0;
      await twoAtATime(points, async (point, at) => {
        const dataDir = copy(`${at}`);
        const outcome = await runKilledAt(workloadOf(scenario, dataDir), point);
        const states = outcome.isAcknowledged ? allowed.slice(-1) : allowed;
        const faults = await faultsAfterKill(placeOf(scenario, dataDir), states);
        if (!outcome.isKilled) faults.push("it was not killed");
        if (faults.length > 0) failures.push({ at: `${at}: ${point.text}`, faults });
        if (outcome.isAcknowledged) acknowledged++;
      });
      console.log(`${scenario.name}: ${points.length} kill points, ${acknowledged} of them acknowledged`);
      expect(failures).toEqual([]);
      expect(points.length).toBeGreaterThan(5);
    },
  );
}

const placeOf = ({ boot, area = "user" }: Scenario, dataDir: string): Place => ({ dataDir, boot, area: areas[area] });

const workloadOf = ({ boot, warm, step, closes = false }: Scenario, dataDir: string): KillableProcess =>
  storeProcess({ dataDir, boot, warm, step, closes });

/** One run without a kill: returns its system calls and the states that a kill may leave. */
async function rehearse(
  scenario: Scenario,
  dataDir: string,
  logFile: string,
): Promise<{ calls: SystemCall[]; allowed: Files[] }> {
  let found: Files = {};
  const calls = await callsOf(workloadOf(scenario, dataDir), logFile, () => {
    found = filesOf(dataDir);
  });
  const after = filesOf(dataDir);
  expect(await faultsAfterKill(placeOf(scenario, dataDir), [after])).toEqual([]);
  if (Object.values(found).includes(editedText)) expect(Object.values(after)).toContain(editedText);
  return { calls, allowed: scenario.isUpkeep ? [after] : [found, after] };
}
