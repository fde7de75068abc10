import type { DiskFile } from "../../../disk/directory.ts";
import { checkpointBytesMax, checkpointOffsets, encodeCheckpoint, newSalt, writtenVersion } from "./wal-format.ts";
import type { Checkpoint, WalHome } from "./wal-format.ts";

/** The checkpoint that counts, and which of the two places holds it. */
interface PresentCheckpoint {
  checkpoint: Checkpoint;
  slot: number;
}

/** Writes a checkpoint into the place that does not count, which then does. */
export function writeCheckpoint(
  file: DiskFile,
  home: WalHome,
  now: PresentCheckpoint,
  { first, history }: Pick<Checkpoint, "first" | "history">,
): void {
  const checkpoint: Checkpoint = { version: writtenVersion, first, salt: newSalt(), history };
  now.slot = 1 - now.slot;
  file.write(checkpointOffsets[now.slot] ?? 0, encodeCheckpoint(checkpoint, home.owner));
  now.checkpoint = checkpoint;
}

/**
 * The new checkpoint is perhaps not on the disk, and later records must not depend on it: the one before counts again.
 */
export function takeBackCheckpoint(file: DiskFile, now: PresentCheckpoint, before: Readonly<PresentCheckpoint>): void {
  file.write(checkpointOffsets[now.slot] ?? 0, Buffer.alloc(checkpointBytesMax));
  Object.assign(now, before);
}
