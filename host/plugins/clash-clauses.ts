import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { quoted } from "../../shared/text.ts";

type Plugin = Pick<Manifest, "name" | "tools">;

/**
 * Why two plugins cannot be loaded together: clauses about `other`. If both were loaded, it would be unclear to which
 * of them a call, a scope or a resource belongs.
 */
export function* clashClauses(plugin: Plugin, other: Plugin): Generator<string> {
  if (plugin.name === other.name) yield "has the same name";
  for (const tool of plugin.tools) {
    for (const twin of other.tools) yield* toolClauses(tool, twin);
  }
}

function* toolClauses(tool: ManifestTool, twin: ManifestTool): Generator<string> {
  const { name, audience, role } = tool;
  if (audience === "model" && twin.audience === "model" && name === twin.name) {
    yield `offers models the tool ${quoted(name)} as well`;
  }
  // Several plugins can have an index. In all other roles, one tool is responsible for a scope.
  if (role === undefined || role === "index" || role !== twin.role) return;
  const scope = tool.scopes.find((each) => twin.scopes.includes(each));
  if (scope !== undefined) yield `has the role "${role}" for the scope ${quoted(scope)} as well`;
}
