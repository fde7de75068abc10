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
import { compiledScript } from "../store-under-test.ts";
import { whyNoTracing } from "../strace.ts";
import type { FaultReport } from "./fault-workload.ts";

const reason = await whyNoTracing();

interface Sweep {
  /** The script that does it, and gets the scenario's name. */
  readonly script?: string;
  readonly injectionsMin?: number;
}

/** Declares a test for each scenario. */
export function testFaults(scenarios: readonly { readonly name: string }[], sweep: Sweep = {}): void {
  const { script = "fault/fault-workload.js", injectionsMin = 50 } = sweep;
  test.concurrent.for(scenarios)("disk errors lose nothing: $name", { timeout: 600_000 }, async ({ name }, context) => {
    if (reason !== null) skipWithReason(context, reason);
    using folder = temporaryFolder();
    const child = spawn(process.execPath, [compiledScript(script), folder.path, name], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
    });
    try {
      const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
      const { injections, acknowledged, failed, problems } = JSON.parse(printed) as FaultReport;
      const codes = Object.entries(failed).map(([code, count]) => `, ${count} ${code}`);
      console.log(`${name}: ${injections} faults, ${acknowledged} acknowledged all the same${codes.join("")}`);
      expect(problems).toEqual([]);
      expect(injections).toBeGreaterThan(injectionsMin);
    } finally {
      child.kill("SIGKILL");
    }
  });
}
