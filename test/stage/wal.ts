/** Write-ahead logs of format 2, byte for byte as hosts wrote them before there were journals, with anything in them. */
import { hash } from "node:crypto";

import { readBootId } from "../../host/disk/boot-id.ts";

/** A file of a record, with its content as JSON has it. */
interface RecordedFile {
  readonly scope: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: Buffer | null;
}

export interface WalRecord {
  readonly boot: string | null;
  readonly files: readonly RecordedFile[];
  readonly [field: string]: unknown;
}

export const recordsStart = 4096;
export const walBytesMax = 512 * 1024 * 1024;

const digits = (number: number): string => String(number).padStart(15, "0");

/** Of WALs and of their records. */
export const salt = "0".repeat(32);

/** Which start of the machine a record is from: recovery treats them differently. */
export const thisBoot = readBootId();
export const boots = [
  { boot: thisBoot, when: "of this start of the machine" },
  { boot: "another", when: "of a former start" },
];

const stored = (bytes: Buffer | null) => bytes && { text: bytes.toString("utf8") };

/** The bytes of a record, before its head. */
export const encodeFiles = ({ files, ...record }: WalRecord): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...record,
      files: files.map(({ after, ...file }) => Object.assign({}, file, { after: stored(after) })),
    }),
  );

const headOf = (sequence: number, json: Buffer): string => {
  const check = hash("sha256", Buffer.concat([Buffer.from(`${salt} ${sequence} ${json.length}\n`), json]));
  return `record ${digits(sequence)} ${digits(json.length)} ${check} `;
};

export const headBytes = headOf(1, Buffer.alloc(0)).length + "-".length + 16 + "\n".length;

export const encodeRecord = (sequence: number, json: Buffer, isApplied = false): Buffer =>
  Buffer.concat([Buffer.from(`${headOf(sequence, json)}${isApplied ? "+" : "-"}${"-".repeat(16)}\n`), json]);

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
  const line = `memcell-journal 2 ${digits(first)} ${salt}`;
  header.write(`${line} ${hash("sha256", `${owner}\n${line}`)}\n`);
  if (isDistrusted) header.write("!", recordsStart - 1);
  return Buffer.concat([header, records ?? Buffer.alloc(0)]);
}

/** The WAL of a change as it is when the host has written its record, and perhaps applied it. */
export const walOfChange = (
  owner: string,
  record: WalRecord,
  { isApplied = false, ...options }: Omit<WalOptions, "records"> & { readonly isApplied?: boolean } = {},
): Buffer => walOf(owner, { ...options, records: encodeRecord(options.first ?? 1, encodeFiles(record), isApplied) });
