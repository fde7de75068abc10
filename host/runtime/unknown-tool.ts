/** What is told of a tool that is not there, or not there for whoever asks. */
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

const namesOf = (named: readonly { readonly name: string }[]): string => named.map(({ name }) => name).join(", ");
