/** Real small disks: to fill up, to take the right to write from, and with the rules for names of other systems. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { mountByLoop } from "./loop-device.ts";
import { mountFolder, whyNoMounting } from "./mount-folder.ts";
import { CommandFailure, runCommand } from "./run-command.ts";
import { requirePackages } from "./system-packages.ts";

/**
 * - `exfat`: no difference between upper and lower case, no links, no owners
 * - `ntfs`: the same for case, and refuses the names that Windows refuses
 * - `tmpfs`: main memory; room and number of files can be tiny
 */
export type LoopDiskKind = "exfat" | "ntfs" | "ext4" | "tmpfs";

export interface LoopDiskOptions {
  /** 4 MiB are enough for each kind, a page for `tmpfs`. What the file system itself takes is not deducted. */
  readonly bytes: number;
  /** How many files and folders there can be, with those that the file system makes. `ext4` and `tmpfs` only. */
  readonly inodes?: number;
}

export interface LoopDisk extends Disposable {
  readonly path: string;
  /**
   * From now on a write is refused with `EROFS`. `ext4` does so even to files that are open, as after an error of the
   * disk.
   *
   * @throws for the other kinds, when a file is open for writing
   */
  remountReadOnly(): Promise<void>;
}

const packages: Readonly<Record<LoopDiskKind, Readonly<Record<string, string>>>> = {
  exfat: { "mkfs.exfat": "exfatprogs", "mount.exfat-fuse": "exfat-fuse" },
  ntfs: { mkntfs: "ntfs-3g", "lowntfs-3g": "ntfs-3g" },
  ext4: { "mkfs.ext4": "e2fsprogs" },
  tmpfs: {},
};

/** Makes and mounts an empty disk, or says why this machine cannot. May install packages, which can take minutes. */
export async function loopDisk(kind: LoopDiskKind, options: LoopDiskOptions): Promise<LoopDisk | string> {
  if (options.inodes !== undefined && (kind === "exfat" || kind === "ntfs")) {
    throw new RangeError(`Cannot limit inodes: ${kind} has none`);
  }
  const reason = whyNoMounting() ?? (await requirePackages(packages[kind]));
  if (reason !== null) return reason;
  const folder = mountFolder();
  const path = join(folder.path, "files");
  try {
    mkdirSync(path);
    if (kind === "tmpfs") await mountTmpfs(options, path);
    else await mountImage(kind, options, join(folder.path, "disk.img"), path);
  } catch (error) {
    folder[Symbol.dispose]();
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
  return {
    path,
    remountReadOnly: () => remountReadOnly(kind, path),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function mountTmpfs({ bytes, inodes }: LoopDiskOptions, path: string): Promise<void> {
  const limits = [`size=${bytes}`, ...(inodes === undefined ? [] : [`nr_inodes=${inodes}`])];
  await runCommand("mount", ["-t", "tmpfs", "-o", limits.join(","), "tmpfs", path]);
}

async function mountImage(
  kind: Exclude<LoopDiskKind, "tmpfs">,
  { bytes, inodes }: LoopDiskOptions,
  image: string,
  path: string,
): Promise<void> {
  writeFileSync(image, "");
  truncateSync(image, bytes);
  const inodeOptions = inodes === undefined ? [] : ["-N", `${inodes}`];
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
      // No share that only root may use: the tests are root, and the disk is to be full for them too.
      await runCommand("mkfs.ext4", ["-q", "-F", "-m", "0", ...inodeOptions, image]);
      return mountByLoop(image, (device) => runCommand("mount", ["-t", "ext4", device, path]));
  }
}

async function remountReadOnly(kind: LoopDiskKind, path: string): Promise<void> {
  if (kind === "ext4") {
    // What was written before is on the disk; what is written later is not taken.
    await runCommand("sync", ["--file-system", path]);
    await runCommand("mount", ["-o", "remount,abort", path]);
  } else {
    await runCommand("mount", ["-o", "remount,bind,ro", path]);
  }
}
