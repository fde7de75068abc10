/**
 * The folder where a host is built: outside the clone, with a digest of its inputs in the name, so that a later run
 * finds it.
 */
import { createHash } from "node:crypto";
import { lstat, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder for a build of these parts. */
export function buildFolder(language: string, parts: readonly Uint8Array[]): string {
  return join(tmpdir(), `memcell-polyglot-${language}-${digestOf(parts)}`);
}

export function digestOf(parts: readonly (string | Uint8Array)[]): string {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(`${part.length}\n`).update(part);
  return digest.digest("hex").slice(0, 16);
}

/** Another user of the machine can have created a folder with this name. Code in it is not run. */
export async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  return found !== null && found.isDirectory() && found.uid === process.getuid?.();
}

/**
 * Creates a folder completely or not at all, unless a good one exists. If another run was faster, its folder is used.
 */
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
