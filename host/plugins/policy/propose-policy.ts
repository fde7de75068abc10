import { rights } from "../../../shared/abi.ts";
import type { Manifest } from "../../../shared/manifest.ts";
import { quoted } from "../../../shared/text.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Artifact } from "../artifact/artifact.ts";
import type { PolicyFile } from "./policy-schema.ts";

/**
 * Returns the smallest policy that takes nothing away from some plugin files. Throws `PLUGIN_REFUSED` for a file that no policy can
 * allow, and for two plugins with the same name, because a policy has only one list of tools for a name.
 */
export function proposeForAll(artifacts: readonly Artifact[]): PolicyFile {
  const plugins: Record<string, PolicyFile["plugins"][string]> = {};
  for (const artifact of artifacts) {
    for (const [name, plugin] of Object.entries(proposalFor(artifact).plugins)) {
      if (Object.hasOwn(plugins, name)) throw refused(artifact, `another file is the plugin ${quoted(name)} already`);
      plugins[name] = plugin;
    }
  }
  return { version: 1, plugins };
}

function proposalFor(artifact: Artifact): PolicyFile {
  const { manifest, sha256, deviations } = artifact;
  if (manifest && deviations.length === 0) return proposePolicy(manifest, sha256);
  throw refused(artifact, deviations[0] ?? "it has no manifest");
}

function refused({ file }: Artifact, reason: string): ToolError {
  return new ToolError("PLUGIN_REFUSED", `Cannot propose a policy for ${quoted(file)}: ${reason}`);
}

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
