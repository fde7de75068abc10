/**
 * SIGKILL at one system call after the other: all of a change set or none of it, what was acknowledged is there, nothing
 * is left over, and the next process need not wait.
 *
 * By default at every call that leaves something behind: that makes, writes, moves, removes or flushes a file, takes or
 * releases a lock, or tells the acknowledgement. Before all other calls (a folder that is opened, a file that is read)
 * the disk is as after the last of these; `TEST_LONG=1` kills there as well.
 */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { whyNoTracing } from "../strace.ts";
import { isChange } from "../syscall-log.ts";
import type { SystemCall } from "../syscall-log.ts";
import { filesOf } from "../user-state.ts";
import type { Files } from "../user-state.ts";
import { faultsAfterKill } from "./after-kill.ts";
import type { Workload } from "./kill-workload.ts";
import { callsOf, runKilledAt } from "./killed-run.ts";
import { editedText } from "./scenarios.ts";
import type { Scenario } from "./scenarios.ts";

const isLong = process.env["TEST_LONG"] === "1";
const reason = await whyNoTracing();

/** Declares a test for each scenario. */
export function testKills(scenarios: readonly Scenario[]): void {
  test.for(scenarios)(
    "killed anywhere in: $name",
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
      const points = calls.filter((call) => isLong || isChange(call));
      const failures: unknown[] = [];
      let [acknowledged, next] = [0, 0];
      const takeTurns = async (): Promise<void> => {
        for (let at = next++; at < points.length; at = next++) {
          const point = points[at] as SystemCall;
          const dataDir = copy(`${at}`);
          const outcome = await runKilledAt(workloadOf(scenario, dataDir), point);
          const states = outcome.isAcknowledged ? allowed.slice(-1) : allowed;
          const faults = await faultsAfterKill(dataDir, scenario.boot, states);
          if (!outcome.isKilled) faults.push("it was not killed");
          if (faults.length > 0) failures.push({ at: `${at}: ${point.text}`, faults });
          if (outcome.isAcknowledged) acknowledged++;
        }
      };
      await Promise.all([takeTurns(), takeTurns()]);
      console.log(`${scenario.name}: ${points.length} kill points, ${acknowledged} of them acknowledged`);
      expect(failures).toEqual([]);
      expect(points.length).toBeGreaterThan(5);
    },
  );
}

const workloadOf = ({ boot, warm, step, closes = false }: Scenario, dataDir: string): Workload => ({
  dataDir,
  boot,
  warm,
  step,
  closes,
});

/** One run that nobody kills: which calls there are, and which states a kill may leave. */
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
  expect(await faultsAfterKill(dataDir, scenario.boot, [after])).toEqual([]);
  if (Object.values(found).includes(editedText)) expect(Object.values(after)).toContain(editedText);
  return { calls, allowed: scenario.isUpkeep ? [after] : [found, after] };
}
