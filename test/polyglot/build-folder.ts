/** Where a host is built: outside the clone, named by what it is built from, so that a later run finds it again. */
import { createHash } from "node:crypto";
import { lstat, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder for what is built from these parts. */
export function buildFolder(language: string, parts: readonly Uint8Array[]): string {
  return join(tmpdir(), `memcell-polyglot-${language}-${digestOf(parts)}`);
}

export function digestOf(parts: readonly (string | Uint8Array)[]): string {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(`${part.length}\n`).update(part);
  return digest.digest("hex").slice(0, 16);
}

/** Another user of the machine may have made a folder of this name: code in it is not run. */
export async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  return found !== null && found.isDirectory() && found.uid === process.getuid?.();
}

/** Makes a folder whole or not at all, unless it is there and good. When another run was faster, its folder is as good. */
export async function makeWhole(
  folder: string,
  make: (made: string) => Promise<unknown>,
  isGood: (folder: string) => Promise<boolean> = isOwnFolder,
): Promise<void> {
  if (await isGood(folder)) return;
  const made = await mkdtemp(`${folder}-`);
  try {
    await make(made);
    if (await isGood(folder)) return;
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder).catch(async (error: unknown) => {
      if (!(await isGood(folder))) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
