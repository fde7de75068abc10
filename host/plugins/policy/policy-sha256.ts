import { createHash } from "node:crypto";

import type { Policy } from "./policy.ts";

/** The SHA-256 of a policy's canonical form, in which every list and table is sorted. */
export function policySha256({ limits, history, isStrict, plugins }: Omit<Policy, "name" | "sha256">): string {
  const form = {
    ...(isStrict && { isStrict }),
    limits: sorted(Object.entries(limits)),
    history: sorted(Object.entries(history)),
    plugins: sorted(plugins).map(([plugin, { sha256, trust, tools }]) => [
      plugin,
      sha256,
      sorted(tools),
      sorted(Object.entries(trust)),
    ]),
  };
  return createHash("sha256").update(JSON.stringify(form)).digest("hex");
}

function sorted<Value>(entries: Iterable<[string, Value]>): [string, Value][] {
  return [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
