import type { JudgedCatalog } from "./catalog.ts";
import type { ToolDescription } from "./tool-description.ts";
import { isOffered, offeredPart } from "./tools.ts";
import type { Caller, CatalogTool } from "./tools.ts";

/** Describes what a caller is offered. Returns copies, which the caller can change. */
export function offeredTools(catalog: JudgedCatalog, caller: Caller): ToolDescription[] {
  return catalog.tools.all
    .filter(({ tool }) => isOffered(tool, caller))
    .map((found) => descriptionOf(found, catalog, caller));
}

function descriptionOf(
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
    // APIs and MCP clients refuse any other type, and with it the whole list of tools.
    inputSchema: { ...structuredClone(input), type: "object" },
    outputSchema: structuredClone(output),
    rights: [...rights],
    ...(errors.length > 0 && { errors: structuredClone(errors) }),
  };
}
