/** Facts about the machine that a reader needs to judge a figure. None identifies the machine. */
import { statfsSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

import type { Results } from "./results.ts";

export function machine(): Omit<Results["machine"], "fileSystem"> {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    node: process.version,
    system: process.platform,
  };
}

/** The kernel's numbers of common file systems. */
const kinds: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
  [0x2fc12fc1, "zfs"],
  [0x1a, "apfs"],
]);

export function fileSystemOf(folder: string): string {
  return kinds.get(statfsSync(folder).type) ?? "unknown";
}
