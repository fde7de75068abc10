/** What of the machine a reader must know to judge a figure. None of it identifies the machine. */
import { execFileSync } from "node:child_process";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

import type { Results } from "./results.ts";

export function machine(folder: string): Results["machine"] {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    node: process.version,
    system: process.platform,
    fileSystem: execFileSync("df", ["--output=fstype", folder], { encoding: "utf8" }).trim().split("\n").at(-1) ?? "",
  };
}

/** Flushes the folder's disk as far as one file's flush does: on ext4, the journal with all that waits. */
export function settler(folder: string): Disposable & { readonly settle: () => void } {
  const file = openSync(join(folder, "settle"), "a");
  return {
    settle: () => {
      writeSync(file, "x");
      fsyncSync(file);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
