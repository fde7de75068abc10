/**
 * The tables of a tool's page: its input and output fields as its JSON Schemas tell them, between two marks.
 *
 * The rest of a page is prose, written by hand. `npm run build` writes the tables, and `--locked` refuses a page whose
 * tables are not those of the schemas.
 */
import type { ManifestTool } from "../shared/manifest.ts";

const begin = "<!-- parameters -->";
const end = "<!-- /parameters -->";

/** The page with the tables that the tool's schemas give it. Throws for a page without a place for them. */
export function withTables(page: string, tool: Pick<ManifestTool, "name" | "input" | "output">): string {
  const [before = "", between = "", ...surplus] = page.split(`\n${begin}\n`);
  const [, after, ...more] = between.split(`${end}\n`);
  if (after === undefined || surplus.length + more.length > 0) {
    throw new Error(`Cannot write the tables of ${tool.name}.md: it needs one line "${begin}" and then one "${end}"`);
  }
  return `${before}\n${begin}\n${tablesOf(tool)}\n${end}\n${after}`;
}

/** The first line in which two pages differ, for a person; `null` when they are the same. */
export function firstDifference(present: string, expected: string): string | null {
  if (present === expected) return null;
  const [presentLines, expectedLines] = [present.split("\n"), expected.split("\n")];
  const at = expectedLines.findIndex((line, index) => line !== presentLines[index]);
  const line = at < 0 ? expectedLines.length : at;
  return `line ${line + 1} is "${presentLines[line] ?? ""}", the schemas say "${expectedLines[line] ?? ""}"`;
}

function tablesOf({ input, output }: Pick<ManifestTool, "input" | "output">): string {
  return `\n### Input\n\n${table(input)}\n### Output\n\n${table(output)}`;
}

function table(schema: Record<string, unknown>): string {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Field>; required?: string[] };
  const rows = Object.entries(properties).map(([name, field]) => {
    const { condition, meaning } = describe(field.description ?? "");
    const isRequired = required.includes(name) ? "yes" : (condition ?? "no");
    return [`\`${name}\``, typeOf(field), isRequired, limitsOf(field), meaning];
  });
  const lines = [["field", "type", "required", "limits", "meaning"], ["---", "---", "---", "---", "---"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

interface Field {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A flat schema cannot say when a field is required, so its description says it first. */
function describe(description: string): { condition: string | null; meaning: string } {
  const [, condition = null, meaning = description] = /^Required (for \w+)\. (.*)$/s.exec(description) ?? [];
  return { condition, meaning: meaning.replaceAll(/\s+/g, " ").replaceAll("|", "\\|") };
}

function typeOf(field: Field): string {
  if (field.enum) return field.enum.map((each) => `\`"${each}"\``).join(", ");
  return typeof field.type === "string" ? field.type : (field.type ?? ["any"]).join(" or ");
}

function limitsOf({ pattern, minLength = 0, maxLength }: Field): string {
  const characters = maxLength === undefined ? [] : [`${number(minLength)} to ${number(maxLength)} characters`];
  return [...characters, ...(pattern === undefined ? [] : [`\`${pattern.replaceAll("|", "\\|")}\``])].join(", ");
}

const number = (value: number): string => value.toLocaleString("en-GB");
