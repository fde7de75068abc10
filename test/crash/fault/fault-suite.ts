/**
 * Each file operation fails in turn, alone or with all that follow. The step ends with a coded error and changes
 * nothing, or succeeds. The same store works as soon as the disk does. No descriptor or file is left behind, and
 * acknowledged changes survive a restart of the machine.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Scenario } from "../kill/scenario.ts";
import { scenarios } from "../kill/scenarios.ts";
import { compiledScript } from "../store-under-test.ts";
import { whyNoTracing } from "../strace.ts";
import type { FaultReport, parts } from "./fault-workload.ts";

const reason = await whyNoTracing();

/** Declares a test for each scenario of a part, which tries a part of the failures. */
export function testFaults(
  choose: (scenarios: readonly Scenario[]) => readonly Scenario[],
  part: keyof typeof parts,
  title = "disk errors lose nothing: $name",
): void {
  test.concurrent.for(choose(scenarios))(title, { timeout: 1_200_000 }, async ({ name }, context) => {
    if (reason !== null) skipWithReason(context, reason);
    using folder = temporaryFolder();
    const child = spawn(process.execPath, [compiledScript("fault/fault-workload.js"), folder.path, name, part], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
    });
    try {
      const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
      const { injections, tried, acknowledged, failed, problems } = JSON.parse(printed) as FaultReport;
      const codes = Object.entries(failed).map(([code, count]) => `, ${count} ${code}`);
      console.log(
        `${name}: ${tried} of ${injections} faults, ${acknowledged} acknowledged all the same${codes.join("")}`,
      );
      expect(problems).toEqual([]);
      expect(injections).toBeGreaterThan(50);
      expect(tried).toBeGreaterThan(1);
    } finally {
      child.kill("SIGKILL");
    }
  });
}
