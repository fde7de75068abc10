/** The tools of all loaded plugins, and how each is found: by a model's name for it, by the host's, or by a role. */
import type { ManifestTool } from "../../shared/manifest.ts";
import type { Role } from "../../shared/roles.ts";

export interface CatalogTool {
  readonly tool: ManifestTool;
  /** The name of its plugin. */
  readonly family: string;
  readonly moduleIndex: number;
}

export class LoadedTools {
  /** In the order of the plugins, and in which each declares them. */
  readonly all: readonly CatalogTool[];

  constructor(all: readonly CatalogTool[]) {
    this.all = all;
  }

  forModel(name: string): CatalogTool | null {
    return this.all.find(({ tool }) => tool.audience === "model" && tool.name === name) ?? null;
  }

  /** By its name, of which there may be several, or as `family/Tool`. */
  forHost(name: string): readonly CatalogTool[] {
    return this.all.filter(
      (found) => found.tool.audience === "host" && [found.tool.name, fullName(found)].includes(name),
    );
  }

  withRole(role: Role): readonly CatalogTool[] {
    return this.all.filter(({ tool }) => tool.role === role);
  }

  /** Whether any tool reads or writes in a scope. */
  hasScope(scope: string): boolean {
    return this.all.some(({ tool }) => tool.scopes.includes(scope));
  }

  /** The one tool that has the role for a scope. */
  forScope(role: Role, scope: string): CatalogTool | null {
    return this.withRole(role).find(({ tool }) => tool.scopes.includes(scope)) ?? null;
  }
}

/** A tool's name where another plugin may have a tool of the same. */
export const fullName = ({ family, tool }: CatalogTool): string => `${family}/${tool.name}`;

/** Whether a tool has the right to change anything. */
export function mayChange({ tool: { rights } }: CatalogTool): boolean {
  return rights.includes("write") || rights.includes("trash");
}
