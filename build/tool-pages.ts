/** Reads the pages of a family's tools, which lie beside its code: `<name of the tool>.md`. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Family } from "../shared/manifest.ts";
import { jsonSchema } from "./json-schema.ts";
import { firstDifference, withTables } from "./tool-page.ts";

type FamilyTool = Family["tools"][number];

/**
 * The family with the pages that are among the files of its folder. A page whose tables are not those of the schemas is
 * written anew with `isWritten`, and an error without.
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
  console.log(`${name}.md has new tables: it is committed with what changed its schemas`);
  return page;
}
