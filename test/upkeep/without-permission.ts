/** Runs a program of the tests that may not pass over permissions, also where the tests run as root. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import type { TestContext } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Root without the right to pass over permissions. */
const asOthers = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];

/** What a program of this folder says about each case, on a new folder. Skips the test where there is no `setpriv`. */
export function outcomesOf(program: string, cases: readonly string[], context: TestContext): unknown {
  if (process.platform !== "linux") skipWithReason(context, "setpriv is a command of Linux");
  using folder = temporaryFolder();
  const script = fileURLToPath(new URL(`../../dist/test/upkeep/${program}.js`, import.meta.url));
  const [command = "", ...args] = [
    ...(process.getuid?.() === 0 ? asOthers : []),
    process.execPath,
    script,
    folder.path,
    ...cases,
  ];
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout);
}
