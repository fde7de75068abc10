import { rights } from "../../shared/abi.ts";
import type { ReportedTool } from "./report.ts";

const meanings = {
  yes: "asked for and granted",
  "-": "neither",
  may: "granted, not asked for",
  NO: "asked for, not granted",
} as const;
type Mark = keyof typeof meanings;

/** Tool × right, in columns: what each tool asks for, and whether the policy allows it. */
export function toolMatrix(tools: readonly ReportedTool[]): string[] {
  if (tools.length === 0) return [];
  const rows = tools.map((tool) => [
    tool.name,
    audienceOf(tool),
    ...rights.map((right) => markOf(tool, right)),
    scopesOf(tool),
  ]);
  const table = [["tools", "for", ...rights, "scopes"], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, ...legendOf(rows)];
}

/** The host may call every tool; to be offered to models is asked for, and granted or not, as a right is. */
function audienceOf({ audience, allowed }: ReportedTool): string {
  const mark = markFor(audience === "model", allowed?.audience === "model");
  if (mark === "yes") return "model";
  return mark === "-" ? "host" : `${audience === "host" ? "host, " : ""}model (${mark})`;
}

function markOf({ rights: asked, allowed }: ReportedTool, right: (typeof rights)[number]): Mark {
  return markFor(asked.includes(right), allowed?.rights.includes(right) ?? false);
}

function markFor(isAsked: boolean, isAllowed: boolean): Mark {
  if (isAsked) return isAllowed ? "yes" : "NO";
  return isAllowed ? "may" : "-";
}

function scopesOf({ scopes, allowed }: ReportedTool): string {
  const all = [...new Set([...scopes, ...(allowed?.scopes ?? [])])];
  const marked = all.map((scope) => ({
    scope,
    mark: markFor(scopes.includes(scope), allowed?.scopes.includes(scope) ?? false),
  }));
  return marked.map(({ scope, mark }) => (mark === "yes" ? scope : `${scope} (${mark})`)).join(", ");
}

/** Of a plugin that is granted what it asks for and no more, the marks speak for themselves. */
function legendOf(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.flat().join(" ");
  const shown = (["NO", "may"] as const).filter((mark) => new RegExp(`\\b${mark}\\b`).test(cells));
  return shown.length === 0 ? [] : [`  ${shown.map((mark) => `${mark}: ${meanings[mark]}`).join("; ")}`];
}
