import { readFileSync } from "node:fs";

import type { PolicyFile } from "memcell";

type Trust = PolicyFile["plugins"][string]["trust"];

/** A policy with one trust for all of its plugins. */
export function withTrust(policy: PolicyFile, trust: Trust): PolicyFile {
  const plugins = Object.entries(policy.plugins).map(([name, plugin]) => [name, { ...plugin, trust }]);
  return { ...policy, plugins: Object.fromEntries(plugins) as PolicyFile["plugins"] };
}

/** The policy of the package without its pins, with one trust for all plugins. */
export function trustingPolicy(trust: Trust): PolicyFile {
  const file = new URL(import.meta.resolve("memcell/default-policy.json"));
  const { lockFile: _, ...policy } = JSON.parse(readFileSync(file, "utf8")) as PolicyFile;
  return withTrust(policy, trust);
}
