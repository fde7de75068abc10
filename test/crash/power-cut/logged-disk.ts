/** A real disk with a mounted file system that logs every written block and every flush. */
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { endianness, release } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { mountByLoop } from "../../support/loop-device.ts";
import { mountFolder, whyNoMounting } from "../../support/mount-folder.ts";
import { CommandFailure, runCommand } from "../../support/run-command.ts";
import { requirePackages } from "../../support/system-packages.ts";
import { fileSystems } from "./file-systems.ts";
import type { FileSystem, FileSystemKind } from "./file-systems.ts";

export interface BlockWrite {
  readonly kind: "write";
  /** In bytes from the start of the disk. */
  readonly offset: number;
  readonly data: Buffer;
}

/** A flush makes every write before it permanent. */
export type BlockRecord = BlockWrite | { readonly kind: "flush" };

export interface BlockLog {
  readonly kind: FileSystemKind;
  /** The disk before the first record. */
  readonly start: Buffer;
  /** All requests to the disk, in order. */
  readonly records: readonly BlockRecord[];
  /** By mark: the number of records before it. */
  readonly marks: readonly number[];
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
 * Logs what work does to an empty disk: it gets the folder, and a function that sets a mark after everything that has
 * reached the disk. Returns why, if this machine cannot: it needs Linux, root, FUSE and loop devices.
 */
export async function logDisk(
  kind: FileSystemKind,
  work: (mountPoint: string, mark: () => void) => Promise<void>,
): Promise<BlockLog | string> {
  if (endianness() !== "LE") throw new Error("Cannot read a block log: only little-endian machines are known");
  const fileSystem = fileSystems[kind];
  const reason =
    whyNoMounting() ??
    whyTooOld(fileSystem) ??
    (await requirePackages({ ...compilerPackages, [fileSystem.maker]: fileSystem.package }));
  if (reason !== null) return reason;
  using folder = mountFolder();
  const logFile = join(folder.path, "log");
  let mounted: { mountPoint: string; start: Buffer };
  try {
    mounted = await mountLogged(fileSystem, folder.path, logFile);
  } catch (error) {
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
  const markedBytes: number[] = [];
  await work(mounted.mountPoint, () => markedBytes.push(statSync(logFile).size));
  const { records, ends } = recordsIn(readFileSync(logFile).subarray(0, markedBytes.at(-1)));
  // A record that is incomplete at a mark is of a request that was not answered yet.
  const marks = markedBytes.map((bytes) => ends.findLastIndex((end) => end <= bytes) + 1);
  return { kind, start: mounted.start, records, marks };
}

const headBytes = 16;
const flushKind = 2;

/** `logged-disk.c` defines the format. Returns the records, each with the place in the log where it ends. */
function recordsIn(log: Buffer): { records: BlockRecord[]; ends: number[] } {
  const [records, ends]: [BlockRecord[], number[]] = [[], []];
  for (let at = 0; at + headBytes <= log.length;) {
    const end = at + headBytes + log.readUInt32LE(at + 4);
    if (end > log.length) break;
    const data = log.subarray(at + headBytes, end);
    const isFlush = log.readUInt32LE(at) === flushKind;
    records.push(isFlush ? { kind: "flush" } : { kind: "write", offset: Number(log.readBigUInt64LE(at + 8)), data });
    ends.push((at = end));
  }
  return { records, ends };
}

function whyTooOld({ type, linuxMin }: FileSystem): string | null {
  const [major = 0, minor = 0] = release().split(".", 2).map(Number);
  const [majorMin, minorMin] = linuxMin ?? [0, 0];
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return null;
  return `${type} takes Linux ${majorMin}.${minorMin}, this is ${major}.${minor}`;
}

/** Four layers: the backing file, FUSE's view of the file, a loop device on the view, the file system on the device. */
async function mountLogged(
  fileSystem: FileSystem,
  folder: string,
  logFile: string,
): Promise<{ mountPoint: string; start: Buffer }> {
  const [server, backing] = [join(folder, "logged-disk"), join(folder, "backing.img")];
  const [devices, mountPoint] = [join(folder, "devices"), join(folder, "files")];
  for (const point of [devices, mountPoint]) mkdirSync(point);
  writeFileSync(backing, "");
  truncateSync(backing, fileSystem.bytes);
  await runCommand(fileSystem.maker, [...fileSystem.makerOptions, backing], { ...fileSystem.makerEnvironment });
  const start = readFileSync(backing);
  await compile(server);
  await runCommand(server, [backing, logFile, devices]);
  const mountOptions = ["rw", ...fileSystem.mountOptions].join(",");
  await mountByLoop(
    join(devices, "disk.img"),
    (device) => runCommand("mount", ["-t", fileSystem.type, "-o", mountOptions, device, mountPoint]),
    { directIo: true },
  );
  return { mountPoint, start };
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
