/** Real small disks: to fill, to make read-only, and with other systems' rules for names. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { mountByLoop } from "./loop-device.ts";
import { mountFolder, whyNoMounting } from "./mount-folder.ts";
import { openDescriptorsAtRest } from "./open-descriptors.ts";
import { CommandFailure, runCommand } from "./run-command.ts";
import { requirePackages } from "./system-packages.ts";

/**
 * - `exfat`: ignores case, no links, no owners
 * - `ntfs`: ignores case and refuses the names that Windows refuses
 * - `tmpfs`: in memory; room can be tiny
 */
export type LoopDiskKind = "exfat" | "ntfs" | "ext4" | "tmpfs";

export interface LoopDiskOptions {
  /** 4 MiB are enough for each kind, one page for `tmpfs`. Includes what the file system itself takes. */
  readonly bytes: number;
}

export interface LoopDisk extends Disposable {
  readonly path: string;
  /** The file that holds the disk. `tmpfs` has none. */
  readonly image: string;
  /**
   * Refuses writes with `EROFS` from now on. `ext4` does so even for open files, as after a disk error.
   *
   * @throws for the other kinds, if a file is open for writing
   */
  remountReadOnly(): Promise<void>;
}

const packages: Readonly<Record<LoopDiskKind, Readonly<Record<string, string>>>> = {
  exfat: { "mkfs.exfat": "exfatprogs", "mount.exfat-fuse": "exfat-fuse" },
  ntfs: { mkntfs: "ntfs-3g", "lowntfs-3g": "ntfs-3g" },
  ext4: { "mkfs.ext4": "e2fsprogs" },
  tmpfs: {},
};

/**
 * Creates and mounts an empty disk, or returns the reason why this machine cannot. Installing packages can take
 * minutes.
 */
export async function loopDisk(kind: LoopDiskKind, options: LoopDiskOptions): Promise<LoopDisk | string> {
  const reason = whyNoMounting() ?? (await requirePackages(packages[kind]));
  if (reason !== null) return reason;
  const folder = mountFolder();
  const [path, image] = [join(folder.path, "files"), join(folder.path, "disk.img")];
  try {
    mkdirSync(path);
    await mountDisk(kind, options.bytes, image, path);
  } catch (error) {
    folder[Symbol.dispose]();
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
  return {
    path,
    image,
    remountReadOnly: () => remountReadOnly(kind, path),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function mountDisk(kind: LoopDiskKind, bytes: number, image: string, path: string): Promise<void> {
  if (kind === "tmpfs") {
    await runCommand("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path]);
    return;
  }
  writeFileSync(image, "");
  truncateSync(image, bytes);
  switch (kind) {
    case "exfat":
      await runCommand("mkfs.exfat", [image]);
      return mountByLoop(image, (device) => runCommand("mount.exfat-fuse", [device, path]));
    case "ntfs":
      await runCommand("mkntfs", ["--force", "--fast", "--quiet", image]);
      return mountByLoop(image, (device) =>
        runCommand("lowntfs-3g", ["-o", "windows_names,ignore_case", device, path]),
      );
    case "ext4":
      // Reserves no room for root: tests run as root, and the disk must be full for them too.
      await runCommand("mkfs.ext4", ["-q", "-F", "-m", "0", image]);
      return mountByLoop(image, (device) => runCommand("mount", ["-t", "ext4", device, path]));
  }
}

async function remountReadOnly(kind: LoopDiskKind, path: string): Promise<void> {
  // A disk with a file that is open for writing stays writable.
  await openDescriptorsAtRest(path);
  if (kind === "ext4") {
    // Earlier writes are on the disk; later ones are refused.
    await runCommand("sync", ["--file-system", path]);
    await runCommand("mount", ["-o", "remount,abort", path]);
  } else {
    await runCommand("mount", ["-o", "remount,bind,ro", path]);
  }
}
