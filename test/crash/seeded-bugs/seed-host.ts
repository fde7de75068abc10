import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { SeededBug } from "./bugs.ts";

/**
 * Copies the compiled host with one bug to a folder below `dist`, where packages resolve. Returns the value for
 * `TEST_HOST`. `purpose` separates concurrent runs.
 */
export function seedHost(distFolder: string, purpose: string, bug: SeededBug): string {
  const copy = join(distFolder, purpose, bug.name.replaceAll(/[^a-z]+/g, "-"));
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const each of ["host", "shared"]) copyCode(join(distFolder, each), join(copy, each));
  symlinkSync(join(distFolder, "plugins"), join(copy, "plugins"));
  writeFileSync(join(copy, "host", bug.file), seededCode(join(copy, "host"), bug));
  return join(copy, "host");
}

/** The compiled code of a bug's file, with the bug. */
export function seededCode(hostFolder: string, { name, file, find, replacement }: SeededBug): string {
  const parts = readFileSync(join(hostFolder, file), "utf8").split(find);
  if (parts.length === 2) return parts.join(replacement);
  throw new Error(`Cannot seed "${name}": its text is ${parts.length - 1} times in ${file}, exactly once is expected`);
}

function copyCode(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (each) => !each.endsWith(".d.ts") });
}
