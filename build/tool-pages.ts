/** Reads the pages of a family's tools, `<name of the tool>.md` in the family's folder. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Family } from "../shared/manifest.ts";
import { jsonSchema } from "./json-schema.ts";
import { firstDifference, withTables } from "./tool-page.ts";

type FamilyTool = Family["tools"][number];

/**
 * Returns the family with the pages in its folder. If a page's tables differ from the schemas, writes the page again
 * with `isWritten`, and throws without it.
 */
export async function withPages(
  family: Family,
  { folder, files, isWritten }: { folder: string; files: readonly string[]; isWritten: boolean },
): Promise<Family> {
  const tools = family.tools.map(async (tool) => {
    const file = `${tool.name}.md`;
    return files.includes(file)
      ? { ...tool, documentation: await readPage(tool, join(folder, file), isWritten) }
      : tool;
  });
  return { ...family, tools: await Promise.all(tools) };
}

async function readPage({ name, input, output }: FamilyTool, file: string, isWritten: boolean): Promise<string> {
  const present = await readFile(file, "utf8");
  const schemas = { input: jsonSchema(input, "input"), output: jsonSchema(output, "output") };
  const page = withTables(present, { name, ...schemas });
  const difference = firstDifference(present, page);
  if (difference === null) return page;
  if (!isWritten) {
    throw new Error(
      `Cannot build plugin: the tables of ${name}.md are not up to date: ${difference}; "npm run build" writes them`,
    );
  }
  await writeFile(file, page);
  console.log(`${name}.md has new tables: commit it with the change of its schemas`);
  return page;
}
