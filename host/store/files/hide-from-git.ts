import type { Directory } from "../../disk/directory.ts";

export const ignoreFile = ".gitignore";

/**
 * Keeps the host's own folder out of a git repository around a mounted folder: locks and WALs belong to this machine.
 * Created only once, before the owner is recorded, so that a person can remove it.
 */
export function hideFromGit(own: Directory): void {
  if (own.identityOf(ignoreFile) === null) own.create(ignoreFile, Buffer.from("*\n"), ignoreFile);
}
