/**
 * The tools of all loaded plugins: how they are found, which command a call is, what a caller is offered, and which files
 * they keep entries in.
 */
import type { Right } from "../../shared/abi.ts";
import { isDerived } from "../../shared/derived-files.ts";
import { entryNameIn } from "../../shared/entry-file.ts";
import { toolName as validName } from "../../shared/manifest.ts";
import type { Manifest, ManifestTool, ToolCommand } from "../../shared/manifest.ts";
import { isTrashPath } from "../../shared/path.ts";
import type { Role } from "../../shared/roles.ts";
import { anyStore, ownStoreName } from "../../shared/shared-scope.ts";
import { presentValue, quoted } from "../../shared/text.ts";
import { storeOfScope } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import type { NotLoaded } from "./not-loaded.ts";
import type { TrustPolicy } from "./policy/policy.ts";

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
  /** The files that plugins make from their other files, by scope, as `isDerivedFile` says it of one family. */
  readonly derivedFiles: ReadonlyMap<string, readonly string[]>;

  constructor(
    all: readonly CatalogTool[],
    { unavailable, notLoaded }: { readonly unavailable: readonly UnavailableTool[]; readonly notLoaded: NotLoaded },
  ) {
    this.all = all;
    this.unavailable = unavailable;
    this.notLoaded = notLoaded;
    const declared = all.flatMap(({ files }) => files.derived);
    this.derivedFiles = new Map(
      declared.flatMap(({ scopes, places }) => ownScopes(scopes).map((scope) => [scope, places] as const)),
    );
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

  /** Whether a plugin makes a file from its other files, such as an index. */
  isDerivedAt({ scope, path }: Place): boolean {
    return isDerived(path, this.derivedFiles.get(scope) ?? []);
  }

  /** The name of the entry that has a file; `null` if no plugin says that one has it. */
  entryAt(place: Place): string | null {
    for (const { files } of this.all) {
      const name = entryNameAt(files, place);
      if (name !== null) return name;
    }
    return null;
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

/** Whether its answers show entries: to a model, or as the roles `index`, `entries`, `read` and `search` do. */
export const showsEntries = (found: CatalogTool): boolean =>
  [undefined, "read", "search"].includes(found.tool.role) || listsEntries(found);

/** Whether its answer lists all entries. */
export const listsEntries = ({ tool: { role } }: Pick<CatalogTool, "tool">): boolean =>
  role === "index" || role === "entries";

/** A tool's name in error messages. Callers without types can pass anything. */
export function toolLabel(name: unknown): string {
  if (typeof name !== "string") return `a tool whose name is of type ${typeof name}`;
  // Each call has a label, and a valid name needs no escapes.
  return name.length <= shownCharsMax && validName.test(name) ? `"${name}"` : quoted(name, shownCharsMax);
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

/** What a manifest says about the files of its family: which are made from others, and which have an entry's name. */
export interface FamilyFiles {
  /** Whether it says which files are derived: its tool with the role `inspect` does. */
  readonly isDeclared: boolean;
  readonly derived: readonly { readonly scopes: readonly string[]; readonly places: readonly string[] }[];
  readonly named: readonly { readonly scopes: readonly string[]; readonly entryFile: string }[];
}

interface Place {
  /** As calls name it. */
  readonly scope: string;
  readonly path: string;
}

/** As the plugin declares them, also for tools that a policy takes away. */
export const familyFiles = ({ tools }: Pick<Manifest, "tools">): FamilyFiles => ({
  isDeclared: tools.some(({ role }) => role === "inspect"),
  derived: tools.flatMap(({ scopes, derivedFiles: places }) => (places === undefined ? [] : [{ scopes, places }])),
  named: tools.flatMap(({ scopes, entryFile }) => (entryFile === undefined ? [] : [{ scopes, entryFile }])),
});

export const isDerivedFile = ({ derived }: FamilyFiles, { scope, path }: Place): boolean =>
  derived.some(({ scopes, places }) => isOf(scopes, scope) && isDerived(path, places));

/** Whether a file can have an entry: what is derived repeats others, and the trash is in no answer. */
export const isEntryFile = (files: FamilyFiles, place: Place): boolean =>
  !isTrashPath(place.path) && !isDerivedFile(files, place);

/** The name of the entry that has the file; `null` if the plugin does not say, or keeps no entry there. */
export function entryNameAt({ named }: FamilyFiles, { scope, path }: Place): string | null {
  for (const { scopes, entryFile } of named) {
    const name = isOf(scopes, scope) ? entryNameIn(entryFile, path) : undefined;
    if (name !== undefined) return name;
  }
  return null;
}

const isOf = (scopes: readonly string[], scope: string): boolean =>
  scopes.includes(scope) || (scopes.includes(anyStore) && storeOfScope(scope) !== null);

/** Leaves the tools, and of tools with commands the commands, that have no right to change anything. */
export function readOnlyTools({ all, unavailable, notLoaded }: LoadedTools): LoadedTools {
  const left = all.flatMap((found): CatalogTool[] => {
    const tool = readingPart(found.tool);
    return tool === null ? [] : [{ ...found, tool }];
  });
  const lost = all.filter((found) => readingPart(found.tool) === null);
  const reason = "it can change something, and the runtime is read-only";
  const taken = lost.map(({ family, tool: { name } }) => ({ family, name, reason }));
  return new LoadedTools(left, { unavailable: [...unavailable, ...taken], notLoaded });
}

function readingPart(tool: ManifestTool): ManifestTool | null {
  if (!mayChange(tool.rights)) return tool;
  const reading = (tool.commands ?? []).filter(({ rights }) => !mayChange(rights));
  return reading.length === 0 ? null : withCommands(tool, reading);
}

/** What `readOnlyTools` takes away, in a line for the operator. */
export function readOnlyText({ all }: LoadedTools): string {
  const lost = all.filter(({ tool }) => mayChange(tool.rights));
  const texts = lost.map((found) => {
    const { commands = [] } = found.tool;
    const changing = commands.filter(({ rights }) => mayChange(rights)).map(({ name }) => name);
    return changing.length < commands.length ? `${changing.join(", ")} of ${fullName(found)}` : fullName(found);
  });
  return `nothing is changed, so these are not available: ${texts.join("; ") || "none"}`;
}

/** Who calls. Models get no command that changes grants, unless the embedding program allows it. */
export type Caller = "host" | "model" | "sharing-model";

/** The export that a call runs, with the rights that it then has. */
export type CalledExport = Pick<ToolCommand, "export" | "rights">;

/**
 * Chooses by the field `command` of the input, which decides what the tool does and never what it reaches. The export
 * checks the field again. Throws `INPUT_INVALID` for a command that the caller is not offered.
 */
export function exportFor(tool: ManifestTool, caller: Caller, input: unknown): CalledExport {
  const { commands, export: own, rights } = tool;
  if (commands === undefined) return { export: own ?? "", rights };
  const offered = offeredCommands(commands, caller);
  const asked: unknown = (input as { readonly command?: unknown } | null | undefined)?.command;
  const found = offered.find(({ name }) => name === asked);
  if (found !== undefined) return found;
  const names = offered.map(({ name }) => name);
  const allowed = names.length === 1 ? names.join("") : `${names.slice(0, -1).join(", ")}, or ${names.at(-1)}`;
  const value = presentValue(asked);
  const shown = typeof asked === "string" ? asked.slice(0, shownCharsMax) : value;
  const issues = [{ field: "command", value, allowed: names.join(", ") }];
  throw new ToolError("INPUT_INVALID", `Unknown command: ${shown}. Use ${allowed}.`, { issues });
}

const shownCharsMax = 60;

const offeredCommands = (commands: readonly ToolCommand[], caller: Caller): readonly ToolCommand[] =>
  commands.filter(({ rights }) => caller !== "model" || !rights.includes("grant_set"));

/** Whether models are offered the tool at all. */
export function isOffered({ audience, commands, rights }: ManifestTool, caller: Caller): boolean {
  if (caller === "host") return audience === "host" || commands !== undefined;
  if (audience !== "model") return false;
  return commands === undefined
    ? caller === "sharing-model" || !rights.includes("grant_set")
    : offeredCommands(commands, caller).length > 0;
}

/** The input's schema and the rights of a tool, without what the caller is not offered. */
export function offeredPart(tool: ManifestTool, caller: Caller): Pick<ManifestTool, "input" | "rights"> {
  return tool.commands === undefined ? tool : withCommands(tool, offeredCommands(tool.commands, caller));
}

/**
 * A tool with some of its commands: its rights and its input are then those that these need together. The others are
 * neither described nor called.
 */
export function withCommands(tool: ManifestTool, kept: readonly ToolCommand[]): ManifestTool {
  const { commands = [], input, rights } = tool;
  if (kept.length === commands.length) return tool;
  const fields = new Set(["command", ...kept.flatMap((each) => each.fields)]);
  const properties = Object.entries(input["properties"] as Record<string, object>)
    .filter(([name]) => fields.has(name))
    .map(([name, schema]) =>
      name === "command" ? [name, { ...schema, enum: kept.map((each) => each.name) }] : [name, schema],
    );
  return {
    ...tool,
    commands: [...kept],
    input: { ...input, properties: Object.fromEntries(properties) as object },
    rights: rights.filter((right) => kept.some((each) => each.rights.includes(right))),
  };
}
