import type { Manifest } from "../../shared/manifest.ts";
/** What a plugin file is, kept by its hash: the next runtime of the process does not check and compile the same bytes. */
import type { GuestModule } from "../guest/guest-module.ts";

/** A file that has passed every check that no policy decides. */
export interface CheckedFile {
  readonly manifest: Manifest;
  /** The compiled module by the pages that its memory may have. */
  readonly guests: Map<number, Promise<GuestModule>>;
}

/** More files than a program loads. Each can keep some megabytes of compiled code. */
const filesMax = 16;

/**
 * The only state that runtimes share. It holds nothing of a user, a policy or a path: whoever has other bytes has
 * another hash.
 */
const files = new Map<string, CheckedFile>();

/** The manifest is a copy: programs get parts of it, and can change what they got. */
export function checkedFile(sha256: string): CheckedFile | null {
  const file = files.get(sha256);
  if (file === undefined) return null;
  keep(sha256, file);
  return { ...file, manifest: structuredClone(file.manifest) };
}

export function keepChecked(sha256: string, manifest: Manifest): CheckedFile {
  const file = { manifest: structuredClone(manifest), guests: new Map<number, Promise<GuestModule>>() };
  keep(sha256, file);
  return { ...file, manifest };
}

/** The last used ones stay. */
function keep(sha256: string, file: CheckedFile): void {
  files.delete(sha256);
  files.set(sha256, file);
  const [oldest] = files.keys();
  if (files.size > filesMax && oldest !== undefined) files.delete(oldest);
}
