/**
 * The bytes of a WAL.
 *
 *     0      checkpoint A    <mark> <first sequence> <salt> <check>\n
 *     2048   checkpoint B    the same; of the valid ones the one with the higher sequence counts
 *     4094   one byte        "~" when the folders that lead here were never flushed
 *     4095   one byte        "!" when a flush has failed, so that files may not be what they seem
 *     4096   records         record <sequence> <bytes> <check> <state>\n, then as many bytes of JSON
 *
 * A record counts when it follows the one before it without a gap, in place and in sequence, and its check is right. The
 * check covers the checkpoint's salt, which is drawn anew each time: neither what a former use has left behind, nor what
 * a guest might have planted in a text, is ever taken for a record. `state` is `+` once the record is applied; it is not
 * covered, because it is written later. A checkpoint's check covers the user's id: a copy of another user's WAL is
 * none of this user's.
 */
import { createHash, randomBytes } from "node:crypto";

import { checkpointMark } from "./wal-names.ts";

export const checkpointOffsets = [0, 2048] as const;
export const checkpointBytesMax = 256;
export const relaxedOffset = 4094;
export const distrustOffset = 4095;
export const recordsStart = 4096;
export const relaxedMark = "~".charCodeAt(0);
export const distrustMark = "!".charCodeAt(0);

export interface Checkpoint {
  /** The sequence of the first record after it. */
  readonly first: number;
  readonly salt: string;
}

export interface RecordHead {
  readonly sequence: number;
  readonly bytes: number;
  readonly check: string;
  readonly isApplied: boolean;
}

const digits = 15;
const padded = (number: number): string => String(number).padStart(digits, "0");
const digest = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

export const newSalt = (): string => randomBytes(16).toString("hex");

export function encodeCheckpoint({ first, salt }: Checkpoint, owner: string): Buffer {
  const line = `${checkpointMark} ${padded(first)} ${salt}`;
  return Buffer.from(`${line} ${digest(`${owner}\n`, line)}\n`);
}

const checkpointLine = new RegExp(String.raw`^(${checkpointMark} (\d{15}) ([0-9a-f]{32})) ([0-9a-f]{64})\n`);

export function decodeCheckpoint(bytes: Buffer, owner: string): Checkpoint | null {
  const found = checkpointLine.exec(bytes.toString("latin1"));
  if (!found) return null;
  const [, line = "", first, salt = "", check] = found;
  return digest(`${owner}\n`, line) === check ? { first: Number(first), salt } : null;
}

const headLine = /^record (\d{15}) (\d{15}) ([0-9a-f]{64}) ([+-])\n$/;

/** Bytes before a record's JSON. */
export const headBytes = "record ".length + 2 * (digits + 1) + 64 + 3;
/** From a record's start to its state. */
export const stateOffset = headBytes - 2;

export function encodeRecord(salt: string, sequence: number, json: Buffer): Buffer {
  const head = `record ${padded(sequence)} ${padded(json.length)} ${checkOf(salt, sequence, json)} -\n`;
  return Buffer.concat([Buffer.from(head), json]);
}

export function decodeHead(bytes: Buffer): RecordHead | null {
  const found = headLine.exec(bytes.toString("latin1"));
  if (!found) return null;
  const [, sequence, length, check = "", state] = found;
  return { sequence: Number(sequence), bytes: Number(length), check, isApplied: state === "+" };
}

export function checkOf(salt: string, sequence: number, json: Uint8Array): string {
  return digest(`${salt} ${sequence} ${json.length}\n`, json);
}
