import type { ManifestTool } from "../../shared/manifest.ts";
import { quoted } from "../../shared/text.ts";

export interface Plugin {
  readonly name: string;
  /** Those that the policy leaves. */
  readonly tools: readonly ManifestTool[];
}

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

/** Whether one of two plugins takes the other's place in maintenance, which calls no tool by the name for models. */
export function replaces(plugin: Plugin, other: Plugin): boolean {
  const pairs = plugin.tools.flatMap((tool) => other.tools.map((twin) => [tool, twin] as const));
  return plugin.name === other.name || pairs.some(([tool, twin]) => [...roleClauses(tool, twin)].length > 0);
}

function* toolClauses(tool: ManifestTool, twin: ManifestTool): Generator<string> {
  const { name, audience } = tool;
  if (audience === "model" && twin.audience === "model" && name === twin.name) {
    yield `offers models the tool ${quoted(name)} as well`;
  }
  yield* roleClauses(tool, twin);
}

function* roleClauses({ role, scopes }: ManifestTool, twin: ManifestTool): Generator<string> {
  // Several plugins can have an index. In all other roles, one tool is responsible for a scope.
  if (role === undefined || role === "index" || role !== twin.role) return;
  const scope = scopes.find((each) => twin.scopes.includes(each));
  if (scope !== undefined) yield `has the role "${role}" for the scope ${quoted(scope)} as well`;
}
