import type { Directory } from "../../disk/directory.ts";

export const ignoreFile = ".gitignore";

/**
 * Keeps the host's own folder out of the repository that a mounted folder may lie in: locks and WALs are of this machine.
 * Made before the owner is recorded, and not again: who removes it means it. Nothing depends on it.
 */
export function hideFromGit(own: Directory): void {
  if (own.identityOf(ignoreFile) === null) own.create(ignoreFile, Buffer.from("*\n"), ignoreFile);
}
