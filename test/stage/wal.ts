/** WALs and their records, byte for byte as the host writes them, with anything in them. */
import { readBootId } from "../../host/disk/boot-id.ts";
import * as format from "../../host/store/files/commit/wal-format.ts";
import type { WalRecord } from "../../host/store/files/commit/wal-format.ts";
import { walLimits } from "../../host/store/files/commit/wal-format.ts";
import { atOnce } from "../../host/values/turns.ts";

export type { WalRecord } from "../../host/store/files/commit/wal-format.ts";
export const { recordsStart, headBytes, decodeHead } = format;
export const { walBytesMax, idleBytes } = walLimits;

/** Of WALs and of their records. */
export const salt = "0".repeat(32);

/** Which start of the machine a record is from: recovery treats them differently. */
export const thisBoot = readBootId();
export const boots = [
  { boot: thisBoot, when: "of this start of the machine" },
  { boot: "another", when: "of a former start" },
];

/** The bytes of a record, before its head. */
export const encodeFiles = (record: WalRecord): Buffer => atOnce(format.encodeFiles(record));

export const encodeRecord = (sequence: number, json: Buffer): Buffer =>
  Buffer.concat([atOnce(format.encodeHead(salt, sequence, json)), json]);

export interface WalOptions {
  readonly records?: Uint8Array;
  /** The sequence number of the first record. */
  readonly first?: number;
  /** Whether a flush has failed since. */
  readonly isDistrusted?: boolean | undefined;
}

/** A WAL of a user, or of `stores/<uuid>`. */
export function walOf(owner: string, { records, first = 1, isDistrusted = false }: WalOptions = {}): Buffer {
  const header = Buffer.alloc(recordsStart);
  header.set(format.encodeCheckpoint({ version: 2, first, salt }, owner), format.checkpointOffsets[0]);
  if (isDistrusted) header[format.distrustOffset] = format.distrustMark;
  return Buffer.concat([header, records ?? Buffer.alloc(0)]);
}

/** The WAL of a change as it is when the host has written its record, and perhaps applied it. */
export function walOfChange(
  owner: string,
  record: WalRecord,
  { isApplied = false, ...options }: Omit<WalOptions, "records"> & { readonly isApplied?: boolean } = {},
): Buffer {
  const records = encodeRecord(options.first ?? 1, encodeFiles(record));
  if (isApplied) records.set(format.encodeApplied(null), format.stateOffset);
  return walOf(owner, { ...options, records });
}
