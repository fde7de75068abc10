/**
 * The bytes of a WAL.
 *
 *     0      checkpoint A    <mark> <first sequence> <salt> <history's last version> <its hash> <mark> <check>\n
 *     2048   checkpoint B    the same; of the valid ones, the one with the higher sequence counts
 *     4094   one byte        "~" if the folders that lead to the WAL were never flushed
 *     4095   one byte        "!" if a flush has failed, so that the files cannot be trusted
 *     4096   records         record <sequence> <bytes> <check> <state><applied>\n, then as many bytes of JSON
 *
 * A record is valid if it follows the one before it without a gap, in place and in sequence, and its check is right.
 * The check covers the checkpoint's salt, which is random and new for each checkpoint. So neither bytes from an earlier
 * use nor a text that a guest has written are ever taken for a record. `state` becomes `+` when the record is applied,
 * and `applied` the time of that in microseconds. The check does not cover them, because they are written later. A
 * checkpoint's check covers the home's owner, so a copy of another home's WAL is invalid.
 *
 * A checkpoint says how the history ends and which marks it has, so that neither can be removed alone. Earlier hosts have
 * left checkpoints without that.
 *
 * Version 1 has no `applied`, and only version 3 has `versions`. The others are read, but records are only added to
 * version 3.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Hash } from "node:crypto";

import { isScopePath, scopeName } from "../../../../shared/path.ts";
import * as z from "../../../../shared/zod.ts";
import type { Pieces } from "../../../values/turns.ts";
import { parseJson } from "../../parse-json.ts";
import type { ChangedFile } from "../../plan-changes.ts";
import { decodeBytes, jsonOfBytes, storedBytesSchema } from "../../stored-bytes.ts";
import type { VersionHead } from "../../versions/version.ts";
import { hasPlace, hostFolder } from "../home.ts";
import type { FileHome, HomeKind } from "../home.ts";

/** Its name. It must not change: existing folders have it, and other processes look for it. */
export const walFile = "journal";

/** A WAL that cannot be read is renamed to this and a number. */
export const damagedWalPrefix = "journal-damaged-";

/** The first word of a checkpoint; the version of the format follows. */
const checkpointMark = "memcell-journal";

/** The home that a WAL belongs to. */
export type WalHome = Pick<FileHome, "kind" | "owner">;

export const checkpointOffsets = [0, 2048] as const;
export const checkpointBytesMax = 256;
export const relaxedOffset = 4094;
export const distrustOffset = 4095;
export const recordsStart = 4096;
export const relaxedMark = "~".charCodeAt(0);
export const distrustMark = "!".charCodeAt(0);

/** Of the format: 3 is written. */
export type WalVersionNumber = 1 | 2 | 3;

export const writtenVersion: WalVersionNumber = 3;

export interface Checkpoint {
  readonly version: WalVersionNumber;
  /** The sequence of the first record after it. */
  readonly first: number;
  readonly salt: string;
  /** Absent if nobody has told. */
  readonly history?: HistoryEnd | null | undefined;
}

/** What a history has at least, when the WAL has no records. */
export interface HistoryEnd {
  readonly head: VersionHead;
  /** `lost`: versions are missing; `late`: there were files before it. */
  readonly mark: "lost" | "late" | "none";
}

export interface RecordHead {
  readonly sequence: number;
  readonly bytes: number;
  readonly check: string;
  readonly isApplied: boolean;
  /** When it was applied, by the file system's clock; `null` if that is unknown. */
  readonly appliedUs: number | null;
}

const digits = 15;
const padded = (number: number): string => String(number).padStart(digits, "0");
const digest = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

export const newSalt = (): string => randomBytes(16).toString("hex");

export function encodeCheckpoint({ version, first, salt, history = null }: Checkpoint, owner: string): Buffer {
  const end = history === null ? "" : ` ${padded(history.head.seq)} ${history.head.hash} ${history.mark}`;
  const line = `${checkpointMark} ${version} ${padded(first)} ${salt}${end}`;
  return Buffer.from(`${line} ${digest(`${owner}\n`, line)}\n`);
}

const checkpointLine = new RegExp(
  String.raw`^(${checkpointMark} ([123]) (\d{15}) ([0-9a-f]{32})(?: (\d{15}) ([0-9a-f]{64}) (lost|late|none))?) ([0-9a-f]{64})\n`,
);

export function decodeCheckpoint(bytes: Buffer, owner: string): Checkpoint | null {
  const found = checkpointLine.exec(bytes.toString("latin1"));
  if (!found) return null;
  const [, line = "", version, first, salt = "", seq, hash = "", mark, check] = found;
  if (digest(`${owner}\n`, line) !== check) return null;
  const history = mark ? { head: { seq: Number(seq), hash }, mark: mark as HistoryEnd["mark"] } : null;
  return { version: Number(version) as WalVersionNumber, first: Number(first), salt, history };
}

const headLine = /^record (\d{15}) (\d{15}) ([0-9a-f]{64}) ([+-])([\d-]{16})?\n$/;
const timeDigits = 16;
/** It has no digit, so a time that a crash has left in part is none. */
const noTime = "-".repeat(timeDigits);

/** From a record's start to its state. */
export const stateOffset = "record ".length + 2 * (digits + 1) + 64 + 1;

/** Bytes before a record's JSON. */
export const headBytesOf = (version: WalVersionNumber): number =>
  stateOffset + "+\n".length + (version === 1 ? 0 : timeDigits);

/** As it is written. */
export const headBytes = headBytesOf(writtenVersion);

/** A record's head, before the bytes of its JSON. */
export function* encodeHead(salt: string, sequence: number, json: Uint8Array): Pieces<Buffer> {
  const hash = beginCheck(salt, sequence, json);
  for (let at = 0; at < json.length; at += bytesAtOnce) {
    yield;
    hash.update(json.subarray(at, at + bytesAtOnce));
  }
  return Buffer.from(`record ${padded(sequence)} ${padded(json.length)} ${hash.digest("hex")} -${noTime}\n`);
}

/** Of a large record, so many bytes are hashed before others get a turn. */
const bytesAtOnce = 1024 * 1024;

/** What is written over a record's state when it is applied. */
export function encodeApplied(appliedUs: number | null): Buffer {
  return Buffer.from(appliedUs === null ? "+" : `+${String(appliedUs).padStart(timeDigits, "0")}`);
}

export function decodeHead(bytes: Buffer): RecordHead | null {
  const found = headLine.exec(bytes.toString("latin1"));
  if (!found) return null;
  const [, sequence, length, check = "", state, time = noTime] = found;
  const appliedUs = time.includes("-") ? null : Number(time);
  return { sequence: Number(sequence), bytes: Number(length), check, isApplied: state === "+", appliedUs };
}

export function checkOf(salt: string, sequence: number, json: Uint8Array): string {
  return beginCheck(salt, sequence, json).update(json).digest("hex");
}

const beginCheck = (salt: string, sequence: number, { length }: Uint8Array): Hash =>
  createHash("sha256").update(`${salt} ${sequence} ${length}\n`);

const digestSchema = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const scopeSchema = z.string().check(z.refine((text) => scopeName.test(text) || text === hostFolder));
const pathSchema = z.string().check(z.refine((text) => isScopePath(text)));

/** Validated as strictly as a guest's request: a record is read from a disk that others can write to. */
const recordSchema = z.strictObject({
  /** The boot id when the record was written; `null` if the system has none. */
  boot: z.nullable(z.string()),
  /** When the last of the new contents was written, before they were put in place, by the file system's clock. */
  stagedUs: z.optional(z.int().check(z.nonnegative())),
  /** The inode of the WAL's file. In a copy of the home it is another one, and the disk's times prove nothing. */
  inode: z.optional(z.string()),
  /** Set by recovery: it has judged all earlier records. Lists the files that it leaves as a person has made them. */
  kept: z.optional(z.array(z.strictObject({ scope: scopeSchema, path: pathSchema }))),
  files: z.array(
    z.strictObject({
      scope: scopeSchema,
      path: pathSchema,
      /** The inodes of the folders on the way to the file, the deepest last, when the record was written. */
      way: z.optional(z.array(z.string())),
      /** SHA-256 of the old content; `null` if there was no file. */
      before: z.nullable(digestSchema),
      /** The new content, as text if it is UTF-8, else in base64; `null` if the file is removed. */
      after: z.nullable(storedBytesSchema),
    }),
  ),
  /** What the change set adds to the history: lines as `host/store/versions/version-line.ts` has them. */
  versions: z.optional(z.array(z.string())),
  /** The contents of files that somebody has edited before, which are in the history first. */
  edited: z.optional(z.array(storedBytesSchema)),
  /** The record before does not count: somebody has edited its files meanwhile. */
  voids: z.optional(z.literal(true)),
  /** Earlier versions committed changes of several stores together. Each store's part now counts alone. */
  joint: z.optional(z.unknown()),
});

/** One record: the files of a change set, before and after. */
export interface WalRecord {
  readonly boot: string | null;
  readonly stagedUs?: number | undefined;
  readonly inode?: string | undefined;
  readonly kept?: readonly KeptFile[] | undefined;
  readonly files: readonly RecordedFile[];
  readonly versions?: readonly string[] | undefined;
  readonly edited?: readonly Buffer[] | undefined;
  readonly voids?: true | undefined;
}

export interface RecordedFile extends ChangedFile {
  readonly way?: readonly string[] | undefined;
}

export type KeptFile = Pick<ChangedFile, "scope" | "path">;

export function* encodeFiles({ files, edited, ...facts }: WalRecord): Pieces<Buffer> {
  const pieces: Buffer[] = [Buffer.from(`${opened(facts)},"files":[`)];
  for (const [at, { scope, path, way, before, after }] of files.entries()) {
    yield;
    pieces.push(Buffer.from(`${at === 0 ? "" : ","}${opened({ scope, path, way, before })},"after":`));
    pieces.push(after === null ? Buffer.from("null") : jsonOfBytes(after), Buffer.from("}"));
  }
  for (const [at, each] of edited?.entries() ?? []) {
    yield;
    pieces.push(Buffer.from(at === 0 ? `],"edited":[` : ","), jsonOfBytes(each));
  }
  pieces.push(Buffer.from(edited?.length === 0 ? `],"edited":[]}` : "]}"));
  return yield* joined(pieces);
}

function* joined(pieces: readonly Buffer[]): Pieces<Buffer> {
  const all = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    yield;
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** An object's JSON without its end. */
const opened = (value: object): string => JSON.stringify(value).slice(0, -1);

export function decodeFiles(json: Buffer, kind: HomeKind): WalRecord | null {
  const parsed = z.safeParse(recordSchema, parseJson(json.toString("utf8")));
  if (!parsed.success) return null;
  const { files, kept, edited, joint: _joint, ...facts } = parsed.data;
  if (![...files, ...(kept ?? [])].every(({ scope, path }) => hasPlace(kind, scope, path))) return null;
  return {
    ...(facts as Omit<WalRecord, "files" | "kept" | "edited">),
    kept,
    edited: edited?.map(decodeBytes),
    files: files.map(({ scope, path, way, before, after }) => ({
      scope,
      path,
      way,
      before,
      after: after && decodeBytes(after),
    })),
  };
}
