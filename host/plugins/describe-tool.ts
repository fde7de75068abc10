import type { Right } from "../../shared/abi.ts";
import type { PluginError } from "../../shared/manifest.ts";
import type { JudgedCatalog } from "./catalog.ts";
import type { CatalogTool } from "./loaded-tools.ts";
import { offeredPart } from "./tool-commands.ts";
import type { Caller } from "./tool-commands.ts";

/** A tool's description for a function-calling API. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12. The top level is an object without unions. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of a successful result's `data`. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
  /** The rights that the tool is granted. Without `write` and `trash` it changes nothing. */
  readonly rights: readonly Right[];
  /**
   * The plugin's own error codes, with their meanings and the codes of the error table that they are cases of. Missing
   * if the plugin declares none. A failure with such a code has `of`.
   */
  readonly errors?: readonly PluginError[];
}

/** Describes a tool for a caller. Returns copies, which the caller can change. */
export function descriptionOf(
  { tool, moduleIndex }: CatalogTool,
  { plugins }: JudgedCatalog,
  caller: Caller,
): ToolDescription {
  const { name, description, output } = tool;
  const { input, rights } = offeredPart(tool, caller);
  const errors = plugins[moduleIndex]?.manifest.errors ?? [];
  return {
    name,
    description,
    inputSchema: structuredClone(input),
    outputSchema: structuredClone(output),
    rights: [...rights],
    ...(errors.length > 0 && { errors: structuredClone(errors) }),
  };
}
