/** What of the machine a reader must know to judge a figure. None of it identifies the machine. */
import { closeSync, fsyncSync, openSync, statfsSync, writeSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

import type { Results } from "./results.ts";

export function machine(folder: string): Results["machine"] {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    node: process.version,
    system: process.platform,
    fileSystem: fileSystems.get(statfsSync(folder).type) ?? "unknown",
  };
}

/** The kernel's numbers of common file systems. */
const fileSystems: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
  [0x2fc12fc1, "zfs"],
  [0x1a, "apfs"],
]);

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
