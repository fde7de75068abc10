/** What is told of a tool that is not there, or not there for whoever asks, or there several times. */
import type { Role } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import { fullName } from "../plugins/loaded-tools.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import { ToolError } from "../values/tool-error.ts";

/** A tool's name as messages show it. Callers without types may pass anything. */
export function toolLabel(toolName: unknown): string {
  return typeof toolName === "string" ? quoted(toolName) : `a tool whose name is of type ${typeof toolName}`;
}

/** For a caller, who gets the names of all tools a model may call. */
export function unknownTool(action: string, known: readonly { readonly name: string }[]): ToolError {
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: no such tool, allowed: ${namesOf(known)}`);
}

/** The one tool that a program means. Throws `TOOL_UNKNOWN` when there is none, or several. */
export function toolForHost(tools: LoadedTools, toolName: string, loaded: readonly PluginIdentity[]): CatalogTool {
  const [found, ...others] = tools.forHost(toolName);
  if (found !== undefined && others.length === 0) return found;
  const several = found && `several plugins have it, allowed: ${[found, ...others].map(fullName).join(", ")}`;
  const none = `no plugin that is loaded has it, loaded: ${loaded.length > 0 ? namesOf(loaded) : "none"}`;
  throw new ToolError("TOOL_UNKNOWN", `Cannot call ${toolLabel(toolName)}: ${several ?? none}`);
}

/** For a program that asks what no loaded plugin, or not the one that it names, can tell. */
export function unknownRole(action: string, role: Role, family: string | undefined): ToolError {
  const plugin = family === undefined ? "no plugin that is loaded" : `no plugin ${quoted(family)} that is loaded`;
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: ${plugin} has a tool with the role "${role}"`);
}

const namesOf = (named: readonly { readonly name: string }[]): string => named.map(({ name }) => name).join(", ");
