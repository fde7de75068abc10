import type { DiskFile } from "../../../disk/directory.ts";
import type { WalTail } from "./find-records.ts";
import { checkpointBytesMax, checkpointOffsets, stateOffset } from "./wal-format.ts";

/**
 * Shows whether a WAL that is held open is as this process has left it. Somebody can copy another one over it, such as a
 * backup. What is compared is the last record's head up to its state, or without records the checkpoint: both have a check
 * or a salt that no other WAL has in this place.
 */
export class WalSeal {
  /** `null` if it was not noted. */
  #bytes: Buffer | null = null;

  /** A record was appended. */
  note(record: Uint8Array): void {
    this.#bytes = Buffer.from(record.subarray(0, stateOffset));
  }

  forget(): void {
    this.#bytes = null;
  }

  /** Notes it, unless that is done. */
  noteIn(file: DiskFile, tail: Pick<WalTail, "last" | "slot">): void {
    this.#bytes ??= read(file, tail);
  }

  isUnbroken(file: DiskFile, tail: Pick<WalTail, "last" | "slot">): boolean {
    return this.#bytes !== null && this.#bytes.equals(read(file, tail));
  }
}

function read(file: DiskFile, { last, slot }: Pick<WalTail, "last" | "slot">): Buffer {
  return last > 0 ? file.read(last, stateOffset) : file.read(checkpointOffsets[slot] ?? 0, checkpointBytesMax);
}
