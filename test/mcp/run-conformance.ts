/** Runs the official conformance suite against a server and reads its results. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { PreparedClients } from "./prepare-clients.ts";

export const runNames = ["0.1.16", "2025-11-25", "2026-07-28"] as const;
export type RunName = (typeof runNames)[number];

/** The whole released suite, and from the next one all that each revision requires or can ask for. */
export const suiteArgs = ({ conformance, conformanceNext }: PreparedClients): Record<RunName, readonly string[]> => ({
  "0.1.16": [conformance, "--suite", "all"],
  "2025-11-25": [conformanceNext, "--requirements", "2025-11-25"],
  "2026-07-28": [conformanceNext, "--requirements", "2026-07-28"],
});

export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** Returns the checks of each scenario that ran. The suite writes into `folder`. */
export async function runConformance(
  [script = "", ...args]: readonly string[],
  { node, url, folder }: { readonly node: string; readonly url: string; readonly folder: string },
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const { code, output } = await ended(node, [script, "server", "--url", url, ...args, "-o", folder]);
  // The exit code is 1 when a check fails, which the tests judge. If there are no results, the output says why.
  if (code !== 0 && code !== 1) throw new Error(`The conformance suite ended with ${code}: ${output}`);
  const found = readdirSync(folder).map((name) => {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1];
    if (scenario === undefined) throw new Error(`The conformance suite has written "${name}"`);
    return [scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[]] as const;
  });
  if (found.length === 0) throw new Error(`The conformance suite has run nothing: ${output}`);
  return new Map(found);
}

function ended(program: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, output: stdout + stderr });
    });
  });
}
