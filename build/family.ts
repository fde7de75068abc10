/**
 * Finds the plugin families of a folder and reads what each declares of itself.
 *
 * A family is a folder with a `family.ts` (what it is) and an `index.ts` (what it exports). Nothing else in the
 * project names families, so a new one is a new folder.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Family } from "../shared/manifest.ts";
import { bundleFamilyDeclaration } from "./bundle.ts";
import { withPages } from "./tool-pages.ts";

export interface FamilySource {
  readonly family: Family;
  readonly folder: string;
}

export interface ReadOptions {
  /** Whether pages get new tables where their schemas have changed; otherwise that is an error. Default `false`. */
  readonly writePages?: boolean;
}

/** The families below a folder, sorted by name, each tool with its page. */
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

/** The family of a folder that has its name. */
export async function readFamily(folder: string, { writePages = false }: ReadOptions = {}): Promise<Family> {
  const declared = await readDeclaration(folder);
  const family = await withPages(declared, { folder, files: await readdir(folder), isWritten: writePages });
  if (family.name === basename(folder)) return family;
  throw new Error(`Cannot build plugin: folder is "${basename(folder)}", its family.ts says "${family.name}"`);
}

/** Evaluates `family.ts` in Node. It declares; it does not run anything of the plugin. */
async function readDeclaration(folder: string): Promise<Family> {
  const scratch = await mkdtemp(join(tmpdir(), "memcell-family-"));
  try {
    const file = join(scratch, "family.mjs");
    await bundleFamilyDeclaration(join(folder, "family.ts"), file);
    const { family } = (await import(pathToFileURL(file).href)) as { family?: Family };
    if (!family) throw new Error(`Cannot build plugin: ${join(folder, "family.ts")} exports no "family"`);
    return family;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
