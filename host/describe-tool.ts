import type { ToolDescription } from "./api.ts";
import type { JudgedCatalog, CatalogTool } from "./catalog.ts";

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
