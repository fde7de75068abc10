import { createHash } from "node:crypto";

import type { Policy } from "./policy.ts";

/** Of one form of all that can be written in several: every list and every table in the order of its texts. */
export function policySha256({ limits, plugins }: Pick<Policy, "limits" | "plugins">): string {
  const form = {
    limits: sorted(Object.entries(limits)),
    plugins: sorted(plugins).map(([plugin, { sha256, tools }]) => [plugin, sha256, sorted(tools)]),
  };
  return createHash("sha256").update(JSON.stringify(form)).digest("hex");
}

function sorted<Value>(entries: Iterable<[string, Value]>): [string, Value][] {
  return [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
