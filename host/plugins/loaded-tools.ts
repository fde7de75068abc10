/** The tools of all loaded plugins, found by their names for models, their names for programs, or their roles. */
import type { Right } from "../../shared/abi.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
import type { Role } from "../../shared/roles.ts";
import { anyStore, ownStoreName } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";
import type { FamilyFiles } from "./family-files.ts";
import type { NotLoaded } from "./not-loaded.ts";
import type { TrustPolicy } from "./policy/policy.ts";
import { isOffered } from "./tool-commands.ts";

export interface CatalogTool {
  readonly tool: ManifestTool;
  /** The name of its plugin. */
  readonly family: string;
  readonly moduleIndex: number;
  /** What becomes of its writes and entries by their trust. */
  readonly trust: TrustPolicy;
  readonly files: FamilyFiles;
}

/** A tool of a plugin file that nobody can call. */
export interface UnavailableTool {
  readonly family: string;
  readonly name: string;
  /** Why, as a clause. Only for programs: to models it is a tool that does not exist. */
  readonly reason: string;
}

export class LoadedTools {
  /** In the order of the plugins, and within a plugin in the order of declaration. */
  readonly all: readonly CatalogTool[];
  /** Those that the policy takes away, or that could change something in a read-only runtime. */
  readonly unavailable: readonly UnavailableTool[];
  readonly notLoaded: NotLoaded;

  constructor(
    all: readonly CatalogTool[],
    { unavailable, notLoaded }: { readonly unavailable: readonly UnavailableTool[]; readonly notLoaded: NotLoaded },
  ) {
    this.all = all;
    this.unavailable = unavailable;
    this.notLoaded = notLoaded;
  }

  forModel(name: string): CatalogTool | null {
    return this.all.find(({ tool }) => tool.audience === "model" && tool.name === name) ?? null;
  }

  /** Finds tools by name, which several plugins can use, or by `family/Tool`. */
  forHost(name: string): readonly CatalogTool[] {
    return this.all.filter(
      (found) => isOffered(found.tool, "host") && [found.tool.name, fullName(found)].includes(name),
    );
  }

  /** Why a tool that a plugin has cannot be called, by its name or by `family/Tool`. */
  whyUnavailable(name: string): string | null {
    const found = this.unavailable.find((each) => [each.name, `${each.family}/${each.name}`].includes(name));
    return found?.reason ?? null;
  }

  withRole(role: Role): readonly CatalogTool[] {
    return this.all.filter(({ tool }) => tool.role === role);
  }

  /** The files that plugins make from their other files, by scope, as `isDerivedFile` says it of one family. */
  get derivedFiles(): ReadonlyMap<string, readonly string[]> {
    const declared = this.all.flatMap(({ files }) => files.derived);
    return new Map(
      declared.flatMap(({ scopes, places }) => ownScopes(scopes).map((scope) => [scope, places] as const)),
    );
  }

  /** Whether any tool reads or writes in a scope. */
  hasScope(scope: string): boolean {
    return this.all.some((found) => hasScope(found, scope));
  }

  /** The one tool that has the role for a scope. */
  forScope(role: Role, scope: string): CatalogTool | null {
    return this.withRole(role).find((found) => hasScope(found, scope)) ?? null;
  }
}

/** The scopes of a tool. `store` is the user's own store, for a tool that reaches any. */
export const ownScopesOf = ({ tool }: CatalogTool): string[] => ownScopes(tool.scopes);

const ownScopes = (scopes: readonly string[]): string[] =>
  scopes.map((scope) => (scope === anyStore ? ownStoreName : scope));

const hasScope = (found: CatalogTool, scope: string): boolean => ownScopesOf(found).includes(scope);

/** A tool's unambiguous name: another plugin can have a tool with the same short name. */
export const fullName = ({ family, tool }: CatalogTool): string => `${family}/${tool.name}`;

/** Rights that change nothing. `search` and `grant_list` only read shared stores and who may reach them. */
const readingRights: ReadonlySet<Right> = new Set(["read", "list", "clock", "search", "grant_list"]);

/** Whether one of the rights is to change anything. A right that is not known to only read counts. */
export function mayChange(rights: readonly Right[]): boolean {
  return rights.some((right) => !readingRights.has(right));
}

/** Whether a tool reaches shared stores. Then it reaches no user's folder. */
export const reachesStores = ({ tool: { scopes } }: CatalogTool): boolean => scopes.includes(anyStore);

/** Whether its answers show entries: to a model, or as the roles `index`, `entries` and `read` do. */
export const showsEntries = (found: CatalogTool): boolean =>
  found.tool.role === undefined || found.tool.role === "read" || listsEntries(found);

/** Whether its answer lists all entries. */
export const listsEntries = ({ tool: { role } }: Pick<CatalogTool, "tool">): boolean =>
  role === "index" || role === "entries";

/** A tool's name in error messages. Callers without types can pass anything. */
export function toolLabel(toolName: unknown): string {
  return typeof toolName === "string" ? quoted(toolName) : `a tool whose name is of type ${typeof toolName}`;
}

/** The error for an unknown tool, for a model. It lists the tools in `known`; the hint is for its program. */
export function unknownTool(
  action: string,
  known: readonly { readonly name: string }[],
  hint: string | undefined,
): ToolError {
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: no such tool, allowed: ${namesOf(known)}`, { hint });
}

/** Finds the one tool for programs with a name. Throws `TOOL_UNKNOWN` if there is none, or if there are several. */
export function toolForHost(
  tools: LoadedTools,
  toolName: string,
  loaded: readonly { readonly name: string }[],
): CatalogTool {
  const [found, ...others] = tools.forHost(toolName);
  if (found !== undefined && others.length === 0) return found;
  const several = found && `several plugins have it, allowed: ${[found, ...others].map(fullName).join(", ")}`;
  const isForModels = tools.all.some((each) => [each.tool.name, fullName(each)].includes(toolName));
  const none = isForModels
    ? "it is a tool for models, allowed are tools for programs"
    : `no loaded plugin has it, loaded: ${loaded.length > 0 ? namesOf(loaded) : "none"}`;
  const unavailable = tools.whyUnavailable(toolName);
  const hint = found || isForModels || unavailable !== null ? undefined : tools.notLoaded.hintForTool(toolName);
  throw new ToolError("TOOL_UNKNOWN", `Cannot call ${toolLabel(toolName)}: ${several ?? unavailable ?? none}`, {
    hint,
  });
}

/** The error if no loaded plugin, or not the one that the program named, has a tool with the role. */
export function unknownRole(
  action: string,
  role: Role,
  { family, hint }: { readonly family?: string | undefined; readonly hint: string | undefined },
): ToolError {
  const plugin = family === undefined ? "no loaded plugin" : `no loaded plugin ${quoted(family)}`;
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: ${plugin} has a tool with the role "${role}"`, { hint });
}

const namesOf = (named: readonly { readonly name: string }[]): string => named.map(({ name }) => name).join(", ");
