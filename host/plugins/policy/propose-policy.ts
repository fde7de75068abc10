import { rights } from "../../../shared/abi.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import type { PolicyFile } from "./policy-schema.ts";

/**
 * Returns the smallest policy that takes nothing away from a plugin: it pins this file and grants what its manifest requests. It
 * lowers no limits, because they apply to all plugins of a host. A plugin's own limits are in its manifest.
 */
export function proposePolicy(manifest: Manifest, sha256: string): PolicyFile {
  const tools = manifest.tools.map((tool) => [
    tool.name,
    {
      rights: rights.filter((right) => tool.rights.includes(right)),
      scopes: [...new Set(tool.scopes)],
      ...(tool.audience === "host" && { audience: tool.audience }),
    },
  ]);
  return { version: 1, plugins: { [manifest.name]: { sha256: [sha256], tools: Object.fromEntries(tools) } } };
}
