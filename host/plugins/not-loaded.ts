/**
 * The plugins of the package that are not loaded, for hints to programs and operators. What they have is known from the
 * policy, so no file is read. A plugin that the policy does not name is never suggested: it would be refused.
 */
import { anyStore, ownStoreName } from "../../shared/shared-scope.ts";
import type { Policy, ToolPolicy } from "./policy/policy.ts";

export class NotLoaded {
  readonly #plugins: ReadonlyMap<string, ReadonlyMap<string, ToolPolicy>>;

  constructor(names: readonly string[], policy: Pick<Policy, "plugins">) {
    this.#plugins = new Map(
      [...policy.plugins].flatMap(([name, { tools }]) => (names.includes(name) ? [[name, tools]] : [])),
    );
  }

  /** `name`: a plugin's. */
  hintForPlugin(name: string): string | undefined {
    return this.#plugins.has(name) ? hint(name) : undefined;
  }

  /** `name`: a tool that models can get. */
  hintForModelTool(name: string): string | undefined {
    return this.#hint((tools) => tools.get(name)?.audience === "model");
  }

  /** `name`: a tool, or `family/Tool`. */
  hintForTool(name: string): string | undefined {
    return this.#hint(
      (tools, plugin) => tools.has(name) || [...tools.keys()].some((each) => `${plugin}/${each}` === name),
    );
  }

  /** `scope`: of a user's folder, or `store` for the own store. */
  hintForScope(scope: string): string | undefined {
    const asked = scope === ownStoreName ? anyStore : scope;
    return this.#hint((tools) => [...tools.values()].some(({ scopes }) => scopes.includes(asked)));
  }

  #hint(has: (tools: ReadonlyMap<string, ToolPolicy>, plugin: string) => boolean): string | undefined {
    const found = [...this.#plugins].find(([plugin, tools]) => has(tools, plugin));
    return found && hint(found[0]);
  }
}

const hint = (name: string): string =>
  `The plugin "${name}" has it but is not loaded: add "${name}" to the option plugins of createRuntime, ` +
  `or --plugin ${name} on the command line, beside the other plugins`;
