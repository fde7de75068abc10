/** What is told of a tool that is not there, or not there for whoever asks. */
import type { Role } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import { ToolError } from "../values/tool-error.ts";

/** A tool's name as messages show it. Callers without types may pass anything. */
export function toolLabel(toolName: unknown): string {
  return typeof toolName === "string" ? quoted(toolName) : `a tool whose name is of type ${typeof toolName}`;
}

/** For a caller, who gets the names of all tools a model may call. */
export function unknownTool(action: string, known: readonly { readonly name: string }[]): ToolError {
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: no such tool, allowed: ${namesOf(known)}`);
}

/** For the owner of the data, who may load another plugin. */
export function unknownToHost(action: string, loaded: readonly PluginIdentity[]): ToolError {
  const plugins = loaded.length > 0 ? namesOf(loaded) : "none";
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: no plugin that is loaded has it, loaded: ${plugins}`);
}

/** For the owner of the data, who has not said which of them. */
export function severalTools(action: string, fullNames: readonly string[]): ToolError {
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: several plugins have it, allowed: ${fullNames.join(", ")}`);
}

/** For a program that asks what no loaded plugin, or not the one that it names, can tell. */
export function unknownRole(action: string, role: Role, family: string | undefined): ToolError {
  const plugin = family === undefined ? "no plugin that is loaded" : `no plugin ${quoted(family)} that is loaded`;
  return new ToolError("TOOL_UNKNOWN", `Cannot ${action}: ${plugin} has a tool with the role "${role}"`);
}

const namesOf = (named: readonly { readonly name: string }[]): string => named.map(({ name }) => name).join(", ");
