/**
 * Each file operation fails in turn, alone or with all that follow. The step ends with a coded error and changes
 * nothing, or succeeds. The same store works as soon as the disk does. No descriptor or file is left behind, and
 * acknowledged changes survive a restart of the machine. A slow sweep takes every fifth of these failures, `TEST_LONG=1`
 * all.
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

const isWhole = process.env["TEST_LONG"] === "1" || process.env["TEST_SEEDED"] !== undefined;
const reason = await whyNoTracing();

interface Sweep {
  /** The script that does it, and gets the scenario's name and `every`. */
  readonly script?: string;
  /** Takes each so many-th of the failures; long and seeded runs take all. Default: all. */
  readonly every?: number;
}

/** Declares a test for each scenario. */
export function testFaults(scenarios: readonly { readonly name: string }[], sweep: Sweep = {}): void {
  const { script = "fault/fault-workload.js" } = sweep;
  const every = isWhole ? 1 : (sweep.every ?? 1);
  test.concurrent.for(scenarios)("disk errors lose nothing: $name", { timeout: 600_000 }, async ({ name }, context) => {
    if (reason !== null) skipWithReason(context, reason);
    using folder = temporaryFolder();
    const child = spawn(process.execPath, [compiledScript(script), folder.path, name, `${every}`], {
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
      expect(tried).toBe(Math.ceil(injections / every));
    } finally {
      child.kill("SIGKILL");
    }
  });
}
