import { rights } from "../../shared/abi.ts";
import { modelGranting, rightGranting, scopeGrantings } from "./granting.ts";
import type { Granting } from "./granting.ts";
import type { ReportedTool } from "./report.ts";

const marks: Readonly<Record<Granting, string>> = { granted: "yes", refused: "NO", spare: "may", neither: "-" };

/** Tool × right, in columns: what each tool asks for, and whether the policy allows it. */
export function toolMatrix(tools: readonly ReportedTool[]): string[] {
  if (tools.length === 0) return [];
  const rows = tools.map((tool) => [
    tool.name,
    audienceOf(tool),
    ...rights.map((right) => marks[rightGranting(tool, right)]),
    scopesOf(tool),
  ]);
  const heading = ["tools", "for", ...rights, "scopes"];
  const widths = heading.map((_, column) => Math.max(...[heading, ...rows].map((row) => row[column]?.length ?? 0)));
  const lines = [heading, ...rows].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return [...lines.map((cells) => cells.join("  ").trimEnd()), ...legendOf(rows)];
}

function audienceOf(tool: ReportedTool): string {
  const granting = modelGranting(tool);
  if (granting === "granted") return "model";
  return granting === "neither" ? "host" : `${tool.audience === "host" ? "host, " : ""}model (${marks[granting]})`;
}

function scopesOf(tool: ReportedTool): string {
  const shown = scopeGrantings(tool).map(({ scope, granting }) =>
    granting === "granted" ? scope : `${scope} (${marks[granting]})`,
  );
  return shown.join(", ");
}

/** Of a plugin that is granted what it asks for and no more, the marks speak for themselves. */
function legendOf(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.flat().join(" ");
  const meanings = ["NO: asked for, not granted", "may: granted, not asked for"];
  const shown = meanings.filter((each) => new RegExp(`\\b${each.split(":", 1)[0]}\\b`).test(cells));
  return shown.length === 0 ? [] : [`  ${shown.join("; ")}`];
}
