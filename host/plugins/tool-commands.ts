/** Tools with commands: which command a call is, and what of such a tool is offered to whom. */
import type { ManifestTool, ToolCommand } from "../../shared/manifest.ts";
import { presentValue } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";

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
