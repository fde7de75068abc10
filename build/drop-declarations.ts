/**
 * `npm run compile`, at its end: removes the declarations of the host and of `shared/` that no export of the package
 * reaches. Nobody can import what they describe.
 */
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { projectFolder } from "./bundle.ts";

/** Where the compiler puts what is published. */
const published = ["dist/host", "dist/shared"];

export async function dropDeclarations(): Promise<void> {
  const reached = await reachedFrom(await exportedDeclarations());
  for (const folder of published) {
    for (const name of await readdir(join(projectFolder, folder), { recursive: true })) {
      const path = `${folder}/${name}`;
      if (/\.d\.c?ts$/.test(path) && !reached.has(path)) await rm(join(projectFolder, path));
    }
  }
}

/** `dist/index.d.ts`, which is made later, leads to that of the host. */
async function exportedDeclarations(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8")) as Manifest;
  const types = Object.values(manifest.exports).map((entry) => (typeof entry === "string" ? "" : entry.types));
  const own = types.map((path) => path.slice("./".length)).filter((path) => /^dist\/(?:host|shared)\//.test(path));
  return ["dist/host/index.d.ts", ...own];
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

async function reachedFrom(entries: readonly string[]): Promise<Set<string>> {
  const reached = new Set(entries);
  for (const path of reached) {
    const text = await readFile(join(projectFolder, path), "utf8");
    for (const [, specifier = ""] of text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      reached.add(join(path, "..", specifier).replace(/(?:\.d)?\.[jt]s$/, ".d.ts"));
    }
  }
  return reached;
}
