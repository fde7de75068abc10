import { quoted } from "../../shared/text.ts";
import type { Artifact } from "../artifact/artifact.ts";
import { ToolError } from "../tool-error.ts";
import type { PolicyFile } from "./policy-schema.ts";
import { proposePolicy } from "./propose-policy.ts";

/** The least policy that loads some plugin files. Throws `PLUGIN_REFUSED` for one that no policy would load. */
export function proposeForAll(artifacts: readonly Artifact[]): PolicyFile {
  const plugins = artifacts.map((artifact) => proposalFor(artifact).plugins);
  return { version: 1, plugins: Object.assign({}, ...plugins) as PolicyFile["plugins"] };
}

function proposalFor({ file, manifest, sha256, deviations }: Artifact): PolicyFile {
  if (manifest && deviations.length === 0) return proposePolicy(manifest, sha256);
  const reason = deviations[0] ?? "it has no manifest";
  throw new ToolError("PLUGIN_REFUSED", `Cannot propose a policy for ${quoted(file)}: ${reason}`);
}
