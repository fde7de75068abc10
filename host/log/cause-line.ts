import { inspect } from "node:util";

import type { LogLine } from "./log-entry.ts";

/** What lies behind a failure, as a line for the operator. It may name host paths, and goes nowhere else. */
export function causeLines(causes: readonly unknown[]): LogLine[] {
  const known = causes.filter((cause) => cause !== undefined);
  return known.map((cause) => ({ level: "error", text: `host: ${inspect(cause)}` }));
}
