/**
 * What a file's times show. Two equal stamps mean the same content, so a file that was read need not be read again to
 * see that nobody has changed it. There is a stamp only where that is sure.
 */
import { statfsSync } from "node:fs";
import { release } from "node:os";

export interface FileStamp {
  /** The same text means the same file with the same content. */
  readonly text: string;
  readonly bytes: number;
}

export interface StampFacts {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/**
 * How a file system notes a change. `each`: a change behind a look at the file gets a time of its own. `tick`: it gets the
 * time of the system's last tick, so two changes within 10 ms at most can have the same. `unknown`: any other way.
 */
export type TimesOfDisk = "each" | "tick" | "unknown";

/** The kernel's numbers of the file systems that keep times in nanoseconds: ext4, xfs, btrfs, tmpfs. */
const fineKinds: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994]);

/** Linux notes each change since 6.13. */
const [major = 0, minor = 0] = release().split(".").map(Number);
const fineTimes: TimesOfDisk = major > 6 || (major === 6 && minor >= 13) ? "each" : "tick";

/** `folder`: a path on the disk. */
export function timesOfDisk(folder: string): TimesOfDisk {
  if (process.platform !== "linux") return "unknown";
  try {
    return fineKinds.has(statfsSync(folder).type) ? fineTimes : "unknown";
  } catch {
    return "unknown";
  }
}

/** Twice the longest tick. */
const youngMs = 20;
const secondNs = 1_000_000_000n;

/** `null` if the times could stay the same although the content changes. */
export function stampFrom(
  { dev, ino, size, mtimeNs, ctimeNs }: StampFacts,
  times: TimesOfDisk,
  nowMs: number = Date.now(),
): FileStamp | null {
  // Some disks of these kinds keep whole seconds only.
  if (times === "unknown" || ctimeNs % secondNs === 0n) return null;
  // Also if the clock was set back.
  if (times === "tick" && !(nowMs - Number(ctimeNs / 1_000_000n) > youngMs)) return null;
  return { text: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`, bytes: Number(size) };
}
