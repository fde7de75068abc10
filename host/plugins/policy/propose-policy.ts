import { rights } from "../../../shared/abi.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import type { PolicyFile } from "./policy-schema.ts";

/**
 * The least policy that loads a plugin: this very file, with what its manifest asks for. It lowers no limits: they hold
 * for all plugins of a host, and what a plugin itself may use its manifest says.
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
