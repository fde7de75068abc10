/**
 * The tables of a tool's page: the input and output fields in its JSON Schemas, between two marks.
 *
 * People write the rest of the page. `npm run build` writes the tables, and `--locked` refuses a page whose tables
 * differ from the schemas.
 */
import type { ManifestTool } from "../shared/manifest.ts";
import { fieldsOf, limitsOf, typeOf } from "./schema-fields.ts";
import type { Field } from "./schema-fields.ts";

const begin = "<!-- parameters -->";
const end = "<!-- /parameters -->";

/** Returns the page with the tables of the tool's schemas. Throws when the page lacks the two marks. */
export function withTables(page: string, tool: Pick<ManifestTool, "name" | "input" | "output">): string {
  const [before = "", between = "", ...surplus] = page.split(`\n${begin}\n`);
  const [, after, ...more] = between.split(`${end}\n`);
  if (after === undefined || surplus.length + more.length > 0) {
    throw new Error(`Cannot write the tables of ${tool.name}.md: it needs one line "${begin}" and then one "${end}"`);
  }
  return `${before}\n${begin}\n${tablesOf(tool)}\n${end}\n${after}`;
}

/** Describes the first line in which two pages differ. Returns `null` when they are the same. */
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

function table(schema: Field): string {
  const rows = fieldsOf(schema).map(({ path, field, isRequired }) => {
    const { condition, meaning } = describe(field.description ?? "");
    return [`\`${path}\``, typeOf(field), isRequired ? "yes" : (condition ?? "no"), limitsOf(field), meaning];
  });
  const lines = [["field", "type", "required", "limits", "meaning"], ["---", "---", "---", "---", "---"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** A flat schema cannot say for which action a field is required, so the field's description begins with it. */
function describe(description: string): { condition: string | null; meaning: string } {
  const [, condition = null, meaning = description] = /^Required (for \w+)\. (.*)$/s.exec(description) ?? [];
  return { condition, meaning: meaning.replaceAll(/\s+/g, " ").replaceAll("|", "\\|") };
}
