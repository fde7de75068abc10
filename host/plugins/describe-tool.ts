import type { Right } from "../../shared/abi.ts";
import type { PluginError } from "../../shared/manifest.ts";
import type { JudgedCatalog } from "./catalog.ts";
import type { CatalogTool } from "./loaded-tools.ts";

/** What a function-calling API needs to know of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12. The top level is an object without unions. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of a successful result's `data`. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
  /** What the tool is granted: one that has neither `write` nor `trash` changes nothing. */
  readonly rights: readonly Right[];
  /**
   * The codes that its plugin reports beside those of the error table, what each is a case of and what it means. Not
   * there when it has none. A failure with one of them carries `of`.
   */
  readonly errors?: readonly PluginError[];
}

/** What a caller is told of a tool. Copies: what it does to them changes nothing here. */
export function descriptionOf({ tool, moduleIndex }: CatalogTool, { plugins }: JudgedCatalog): ToolDescription {
  const { name, description, input, output, rights } = tool;
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
