import type { TestContext } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import type { HostProgram } from "./host-kind.ts";
import type { PreparedHost } from "./hosts.ts";

/** A host's program. Skips the test if its toolchain is missing, and fails it if its build failed. */
export function programOf({ language, program, missing, failure }: PreparedHost, context: TestContext): HostProgram {
  if (missing !== null) skipWithReason(context, `no ${language} host: ${missing}`);
  if (program === null) throw new Error(`The ${language} host cannot be built: ${failure}`);
  return program;
}
