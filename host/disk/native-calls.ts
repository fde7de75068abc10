/** Kernel functions that Node does not offer. Only this file imports fs-native-extensions, when they are first needed. */
import { createRequire } from "node:module";

import type * as NativeCalls from "fs-native-extensions";

import { ToolError } from "../values/tool-error.ts";
import type { DiskFile } from "./directory.ts";

const load = createRequire(import.meta.url);

/** `require` looks for the file again each time. */
let loaded: typeof NativeCalls | null = null;

/** Throws `STORAGE_FAILED` on a system for which the add-on is not built, and in a runtime that it would end. */
export function nativeCalls(): typeof NativeCalls {
  if (loaded !== null) return loaded;
  const { bun, deno } = process.versions;
  if (bun !== undefined) throw unfit(`in Bun ${bun}, which lacks functions of libuv`);
  if (deno !== undefined) throw unfit(`in Deno ${deno}, which lacks functions of libuv`);
  try {
    return (loaded = load("fs-native-extensions") as typeof NativeCalls);
  } catch (cause) {
    const system = `on ${process.platform}-${process.arch}`;
    throw unfit(`${system}; the package has it for linux (glibc), darwin and win32 on x64 and arm64`, cause);
  }
}

function unfit(where: string, cause?: unknown): ToolError {
  const addOn = `the native add-on of fs-native-extensions cannot be used ${where}`;
  const instead = "in place of files, use postgresStore or memoryStore";
  return new ToolError("STORAGE_FAILED", `Cannot lock files: ${addOn}; ${instead}`, { cause });
}

/**
 * Takes a lock on an open file if it is free. The lock belongs to this opening of the file, so it also keeps out other
 * threads and other runtimes of this process. Closing the file releases it, and so does the end of the process.
 */
export function tryFileLock(file: Pick<DiskFile, "descriptor">, mode: "exclusive" | "shared"): boolean {
  const { descriptor } = file;
  const { tryLock } = nativeCalls();
  try {
    return tryLock(descriptor, { shared: mode === "shared" });
  } catch (error) {
    // The package's errors do not show whether they come from the system. Here all of them do.
    throw new ToolError("STORAGE_FAILED", "Cannot lock the user's folder: the disk refused", { cause: error });
  }
}

/** Gives up a lock that `tryFileLock` has taken. `false` if the system refuses: then only closing the file releases it. */
export function releaseFileLock({ descriptor }: Pick<DiskFile, "descriptor">): boolean {
  const { unlock } = nativeCalls();
  try {
    unlock(descriptor);
    return true;
  } catch {
    return false;
  }
}

/** Exchanges the files of two names in one step. Follows no link. `false` if it cannot be done. */
export function exchangeNames(path: string, other: string): boolean {
  const { swapSync } = nativeCalls();
  try {
    swapSync(path, other);
    return true;
  } catch {
    // Whatever the reason: the caller's rename meets it too and reports it.
    return false;
  }
}
