import { inspect } from "node:util";

import type { LogLine } from "./log-entry.ts";

/** The causes of a failure as lines for the operator. Only for the operator: they can contain host paths. */
export function causeLines(causes: readonly unknown[]): LogLine[] {
  const known = causes.filter((cause) => cause !== undefined);
  return known.map((cause) => ({ level: "error", text: `host: ${inspect(cause)}` }));
}
