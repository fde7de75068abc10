/** A real disk with a mounted file system that logs every written block and every flush. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { mountByLoop } from "../../support/loop-device.ts";
import { mountFolder, whyNoMounting } from "../../support/mount-folder.ts";
import { CommandFailure, runCommand } from "../../support/run-command.ts";
import { requirePackages } from "../../support/system-packages.ts";
import { BlockLog } from "./block-log.ts";
import { fileSystems } from "./file-systems.ts";
import type { FileSystem, FileSystemKind } from "./file-systems.ts";
import { SparseImage } from "./sparse-image.ts";

export interface LoggedDisk extends Disposable {
  readonly mountPoint: string;
  /** Usable after the disk is gone. */
  readonly log: BlockLog;
  /** Inserts a mark into the log after everything that has reached the disk, and returns its position. */
  mark(label: string): number;
}

const source = fileURLToPath(new URL("logged-disk.c", import.meta.url));

const compilerPackages = {
  gcc: "gcc",
  "/usr/include/unistd.h": "libc6-dev",
  "pkg-config": "pkg-config",
  "/usr/include/fuse3/fuse.h": "libfuse3-dev",
  fusermount3: "fuse3",
};

/**
 * Creates such a disk, or returns why this machine cannot: it needs Linux, root, FUSE and loop devices.
 *
 * @param options.content the disk's first content, for example a disk after a power cut, to cut the power again during
 *   recovery. Default: an empty file system.
 */
export async function loggedDisk(
  kind: FileSystemKind,
  options: { readonly content?: SparseImage } = {},
): Promise<LoggedDisk | string> {
  const fileSystem = fileSystems[kind];
  const reason =
    whyNoMounting() ??
    whyTooOld(fileSystem) ??
    (await requirePackages({ ...compilerPackages, [fileSystem.maker]: fileSystem.package }));
  if (reason !== null) return reason;
  const folder = mountFolder();
  try {
    const content = options.content ?? (await emptyFileSystem(fileSystem, join(folder.path, "new.img")));
    const { mountPoint, logFile } = await mountLogged(fileSystem, content, folder.path);
    const log = new BlockLog(logFile, kind, content);
    return {
      mountPoint,
      log,
      mark: (label) => log.mark(label),
      [Symbol.dispose]: () => folder[Symbol.dispose](),
    };
  } catch (error) {
    folder[Symbol.dispose]();
    // A content that cannot be mounted does not mean that this machine cannot mount disks.
    if (error instanceof CommandFailure && options.content === undefined) return error.message;
    throw error;
  }
}

function whyTooOld({ type, linuxMin }: FileSystem): string | null {
  const [major = 0, minor = 0] = release().split(".", 2).map(Number);
  const [majorMin, minorMin] = linuxMin ?? [0, 0];
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return null;
  return `${type} takes Linux ${majorMin}.${minorMin}, this is ${major}.${minor}`;
}

async function emptyFileSystem(fileSystem: FileSystem, path: string): Promise<SparseImage> {
  writeFileSync(path, "");
  truncateSync(path, fileSystem.bytes);
  await runCommand(fileSystem.maker, [...fileSystem.makerOptions, path], { ...fileSystem.makerEnvironment });
  return SparseImage.fromFile(path, fileSystem.bytes);
}

/** Four layers: the backing file, FUSE's view of the file, a loop device on the view, the file system on the device. */
async function mountLogged(
  fileSystem: FileSystem,
  content: SparseImage,
  folder: string,
): Promise<{ mountPoint: string; logFile: string }> {
  const [server, backing, logFile] = [join(folder, "logged-disk"), join(folder, "backing.img"), join(folder, "log")];
  const [devices, mountPoint] = [join(folder, "devices"), join(folder, "files")];
  for (const point of [devices, mountPoint]) mkdirSync(point);
  content.writeTo(backing);
  await compile(server);
  await runCommand(server, [backing, logFile, devices]);
  const mountOptions = ["rw", ...fileSystem.mountOptions].join(",");
  await mountByLoop(
    join(devices, "disk.img"),
    (device) => runCommand("mount", ["-t", fileSystem.type, "-o", mountOptions, device, mountPoint]),
    { directIo: true },
  );
  return { mountPoint, logFile };
}

async function compile(output: string): Promise<void> {
  try {
    const flags = (await runCommand("pkg-config", ["--cflags", "--libs", "fuse3"])).trim().split(/\s+/);
    await runCommand("gcc", ["-O1", "-Wall", "-Wextra", "-Werror", "-o", output, source, ...flags]);
  } catch (error) {
    // An error in the source is not a reason to skip a test.
    throw new Error("Cannot compile logged-disk.c", { cause: error });
  }
}
