/**
 * Finds the plugin families of a folder and reads their declarations.
 *
 * A family is a folder with a `family.ts` (its declaration) and an `index.ts` (its exports). No other code names
 * families, so a new family is a new folder.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Family } from "../shared/manifest.ts";
import { bundleModule } from "./bundle.ts";
import { withPages } from "./tool-pages.ts";

export interface FamilySource {
  readonly family: Family;
  readonly folder: string;
}

export interface ReadOptions {
  /** Whether to write new tables into pages whose schemas have changed. If not, that is an error. Default `false`. */
  readonly writePages?: boolean;
}

/** Reads the families below a folder, sorted by name, each tool with its page. */
export async function readFamilies(
  pluginFolder: string,
  { writePages = false }: ReadOptions = {},
): Promise<FamilySource[]> {
  const sources: FamilySource[] = [];
  const entries = await readdir(pluginFolder, { withFileTypes: true });
  for (const entry of entries.filter((each) => each.isDirectory())) {
    const folder = join(pluginFolder, entry.name);
    const files = await readdir(folder);
    if (!files.includes("family.ts")) continue;
    const family = await readFamily(folder, { writePages });
    sources.push({ family, folder });
  }
  return sources.toSorted((a, b) => (a.family.name < b.family.name ? -1 : 1));
}

/** Reads the family of a folder. Throws when folder and family have different names. */
export async function readFamily(folder: string, { writePages = false }: ReadOptions = {}): Promise<Family> {
  const declared = await readDeclaration(folder);
  const family = await withPages(declared, { folder, files: await readdir(folder), isWritten: writePages });
  if (family.name === basename(folder)) return family;
  throw new Error(`Cannot build plugin: folder is "${basename(folder)}", its family.ts says "${family.name}"`);
}

/** Evaluates `family.ts` in Node. This runs none of the plugin's code. */
async function readDeclaration(folder: string): Promise<Family> {
  const scratch = await mkdtemp(join(tmpdir(), "memcell-family-"));
  try {
    const file = join(scratch, "family.mjs");
    await bundleModule(join(folder, "family.ts"), file);
    const { family } = (await import(pathToFileURL(file).href)) as { family?: Family };
    if (!family) throw new Error(`Cannot build plugin: ${join(folder, "family.ts")} exports no "family"`);
    return family;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
