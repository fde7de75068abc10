import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { inject } from "vitest";

/** The releases that an adapter is tried with. */
export const releases = ["oldest", "newest"] as const;

/**
 * Runs a program of `programs/` with these releases, and returns what it prints, as JSON. Fails with the compiler's words
 * if the programs do not compile.
 */
export async function playProgram(release: (typeof releases)[number], program: string): Promise<unknown> {
  const { node, folder, failure } = inject("peers")[release];
  if (failure !== null) throw new Error(`The programs cannot be made with the ${release} releases: ${failure}`);
  const { stdout } = await promisify(execFile)(node, [join(folder, `${program}.js`)], { cwd: folder });
  return JSON.parse(stdout);
}
