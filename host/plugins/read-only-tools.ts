/** Tools for a runtime or a caller that may only read. */
import type { ManifestTool } from "../../shared/manifest.ts";
import { fullName, LoadedTools, mayChange } from "./loaded-tools.ts";
import type { CatalogTool } from "./loaded-tools.ts";
import { withCommands } from "./tool-commands.ts";

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
