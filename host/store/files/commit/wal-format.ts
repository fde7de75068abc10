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
import { createHash, hash, randomBytes } from "node:crypto";

import { isScopePath, scopeName } from "../../../../shared/path.ts";
import * as z from "../../../../shared/zod.ts";
import type { DiskFile } from "../../../disk/directory.ts";
import { placeKey } from "../../../values/change-set.ts";
import type { Place } from "../../../values/change-set.ts";
import { atOnce } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import { decodeBytes, digestOf, jsonOfBytes, parseJson, storedBytesSchema } from "../../reading.ts";
import { readLine, sha256Schema } from "../../versions/version.ts";
import type { PlannedVersion, Version, VersionHead } from "../../versions/version.ts";
import { hasPlace, hostFolder } from "../home.ts";
import type { HomeKind } from "../home.ts";

/** Its name. It must not change: existing folders have it, and other processes look for it. */
export const walFile = "journal";

const kib = 1024;

/** Bounds of a WAL. */
export const walLimits = {
  /** What is left of it, filled with zeros, when its user is idle: a record that makes the file grow costs more to flush. */
  idleBytes: 64 * kib,
  /**
   * When any of these is reached, each touched file is flushed and the records are dropped. Higher limits mean fewer
   * flushes per call. But another process then needs longer to read the WAL, 8 ms per MiB, and the user's next call
   * waits longer while the files are flushed.
   */
  retireBytes: 4096 * kib,
  retireRecords: 512,
  retireFiles: 128,
  /** A larger file is not a WAL of ours; none is written. */
  walBytesMax: 512 * kib * kib,
} as const;

/** A WAL that cannot be read is renamed to this and a number. */
export const damagedWalPrefix = "journal-damaged-";

/** The first word of a checkpoint; the version of the format follows. */
const checkpointMark = "memcell-journal";

export const checkpointOffsets = [0, 2048] as const;
export const checkpointBytesMax = 256;
export const relaxedOffset = 4094;
export const distrustOffset = 4095;
export const recordsStart = 4096;
export const relaxedMark = "~".charCodeAt(0);
export const distrustMark = "!".charCodeAt(0);

/** Of the format. */
export const writtenVersion = 3;

export interface Checkpoint {
  readonly version: 1 | 2 | 3;
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

const digits = 15;
const padded = (number: number): string => String(number).padStart(digits, "0");
const checkOfLine = (owner: string, line: string): string => hash("sha256", `${owner}\n${line}`);

export const newSalt = (): string => randomBytes(16).toString("hex");

export function encodeCheckpoint({ version, first, salt, history = null }: Checkpoint, owner: string): Buffer {
  const end = history === null ? "" : ` ${padded(history.head.seq)} ${history.head.hash} ${history.mark}`;
  const line = `${checkpointMark} ${version} ${padded(first)} ${salt}${end}`;
  return Buffer.from(`${line} ${checkOfLine(owner, line)}\n`);
}

const checkpointLine = new RegExp(
  String.raw`^(${checkpointMark} ([123]) (\d{15}) ([0-9a-f]{32})(?: (\d{15}) ([0-9a-f]{64}) (lost|late|none))?) ([0-9a-f]{64})\n`,
);

function decodeCheckpoint(bytes: Buffer, owner: string): Checkpoint | null {
  const found = checkpointLine.exec(bytes.toString("latin1"));
  if (!found) return null;
  const [, line = "", version, first, salt = "", seq, end = "", mark, check] = found;
  if (checkOfLine(owner, line) !== check) return null;
  const history = mark ? { head: { seq: Number(seq), hash: end }, mark: mark as HistoryEnd["mark"] } : null;
  return { version: Number(version) as Checkpoint["version"], first: Number(first), salt, history };
}

const headLine = /^record (\d{15}) (\d{15}) ([0-9a-f]{64}) ([+-])([\d-]{16})?\n$/;
const timeDigits = 16;
/** It has no digit, so a time that a crash has left in part is none. */
const noTime = "-".repeat(timeDigits);

/** From a record's start to its state. */
export const stateOffset = "record ".length + 2 * (digits + 1) + 64 + 1;

/** Bytes before a record's JSON. */
const headBytesOf = (version: Checkpoint["version"]): number =>
  stateOffset + "+\n".length + (version === 1 ? 0 : timeDigits);

export const headBytes = headBytesOf(writtenVersion);

/** A record's head, before the bytes of its JSON. */
export function* encodeHead(salt: string, sequence: number, json: Uint8Array): Pieces<Buffer> {
  const check = yield* checkOf(salt, sequence, json);
  return Buffer.from(`record ${padded(sequence)} ${padded(json.length)} ${check} -${noTime}\n`);
}

function* checkOf(salt: string, sequence: number, json: Uint8Array): Pieces<string> {
  const sum = createHash("sha256").update(`${salt} ${sequence} ${json.length}\n`);
  for (let at = 0; at < json.length; at += bytesAtOnce) {
    yield;
    sum.update(json.subarray(at, at + bytesAtOnce));
  }
  return sum.digest("hex");
}

/** Of a large record, so many bytes are hashed before others get a turn. */
const bytesAtOnce = 1024 * 1024;

/** What is written over a record's state when it is applied. */
export function encodeApplied(appliedUs: number | null): Buffer {
  return Buffer.from(appliedUs === null ? "+" : `+${String(appliedUs).padStart(timeDigits, "0")}`);
}

/** `appliedUs`: when it was applied, by the file system's clock; `null` if that is unknown. */
export function decodeHead(bytes: Buffer) {
  const found = headLine.exec(bytes.toString("latin1"));
  if (!found) return null;
  const [, sequence, length, check = "", state, time = noTime] = found;
  const appliedUs = time.includes("-") ? null : Number(time);
  return { sequence: Number(sequence), bytes: Number(length), check, isApplied: state === "+", appliedUs };
}

const isScope = (text: string): boolean => scopeName.test(text) || text === hostFolder;
const places = { scope: z.string().check(z.refine(isScope)), path: z.string().check(z.refine(isScopePath)) };
const storedBytes = z.pipe(storedBytesSchema, z.transform(decodeBytes));

/** Validated as strictly as a guest's request: a record is read from a disk that others can write to. */
const recordSchema = z.strictObject({
  /** The boot id when the record was written; `null` if the system has none. */
  boot: z.nullable(z.string()),
  /** When the last of the new contents was written, before they were put in place, by the file system's clock. */
  stagedUs: z.optional(z.int().check(z.nonnegative())),
  /** The inode of the WAL's file. In a copy of the home it is another one, and the disk's times prove nothing. */
  inode: z.optional(z.string()),
  /** Set by recovery: it has judged all earlier records. Lists the files that it leaves as a person has made them. */
  kept: z.optional(z.readonly(z.array(z.strictObject(places)))),
  files: z.readonly(
    z.array(
      z.strictObject({
        ...places,
        /** The inodes of the folders on the way to the file, the deepest last, when the record was written. */
        way: z.optional(z.readonly(z.array(z.string()))),
        /** SHA-256 of the old content; `null` if there was no file. */
        before: z.nullable(sha256Schema),
        /** The new content, as text if it is UTF-8, else in base64; `null` if the file is removed. */
        after: z.nullable(storedBytes),
      }),
    ),
  ),
  /** What the change set adds to the history: lines as `host/store/versions/version.ts` has them. */
  versions: z.optional(z.readonly(z.array(z.string()))),
  /** The contents of files that somebody has edited before, which are in the history first. */
  edited: z.optional(z.readonly(z.array(storedBytes))),
  /** The record before does not count: somebody has edited its files meanwhile. */
  voids: z.optional(z.literal(true)),
  /** Earlier versions committed changes of several stores together. Each store's part now counts alone. */
  joint: z.optional(z.unknown()),
});

/** One record: the files of a change set, before and after. */
export type WalRecord = Omit<z.infer<typeof recordSchema>, "joint">;
export type RecordedFile = WalRecord["files"][number];

export function* encodeFiles({ files, edited = [], ...facts }: WalRecord): Pieces<Buffer> {
  const pieces: Buffer[] = [Buffer.from(`${opened(facts)},"files":[`)];
  for (const [at, { scope, path, way, before, after }] of files.entries()) {
    yield;
    pieces.push(Buffer.from(`${at === 0 ? "" : ","}${opened({ scope, path, way, before })},"after":`));
    pieces.push(after === null ? Buffer.from("null") : jsonOfBytes(after), Buffer.from("}"));
  }
  for (const [at, each] of edited.entries()) {
    yield;
    pieces.push(Buffer.from(at === 0 ? `],"edited":[` : ","), jsonOfBytes(each));
  }
  pieces.push(Buffer.from("]}"));
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

/** A record's JSON; `null` if it is none. */
function decodeFiles(json: Buffer, kind: HomeKind): WalRecord | null {
  const parsed = z.safeParse(recordSchema, parseJson(json.toString("utf8")));
  if (!parsed.success) return null;
  const { joint: _joint, ...record } = parsed.data;
  const all = [...record.files, ...(record.kept ?? [])];
  return all.every(({ scope, path }) => hasPlace(kind, scope, path)) ? record : null;
}

/** A content that a version has written, by its place. */
export interface WrittenContent {
  readonly key: string;
  readonly sha256: string;
  readonly content: Buffer;
}

/** A version with the contents that it has written. It is in a record, and not yet in the history. */
export interface WrittenVersion extends PlannedVersion {
  readonly contents: readonly WrittenContent[];
}

/** The contents that a version has written, as far as they are found. What was moved is there already. */
export function writtenBy(
  { files }: Version,
  find: (file: Place, sha256: string) => Buffer | null | undefined,
): WrittenContent[] {
  return files.flatMap(({ scope, path, sha256, from }) => {
    if (sha256 === null || from !== undefined) return [];
    const content = find({ scope, path }, sha256);
    return content ? [{ key: placeKey({ scope, path }), sha256, content }] : [];
  });
}

/** The versions of records, without those of changes that were taken back. */
export function* versionsInRecords(records: readonly WalRecord[]): Pieces<WrittenVersion[]> {
  const found: WrittenVersion[] = [];
  for (const [at, { versions = [], edited = [], files }] of records.entries()) {
    if (versions.length === 0 || records[at + 1]?.voids) continue;
    const byDigest = new Map<string | null, Buffer>();
    for (const content of [...edited, ...files.flatMap(({ after }) => after ?? [])]) {
      yield;
      byDigest.set(digestOf(content), content);
    }
    for (const read of versions.flatMap((line) => readLine(line) ?? [])) {
      yield;
      found.push({ ...read, contents: writtenBy(read.version, (_, sha256) => byDigest.get(sha256)) });
    }
  }
  return found;
}

/** A record as it was found; `appliedUs` is unknown of one that is not applied. */
export interface StoredRecord extends WalRecord {
  readonly isApplied: boolean;
  readonly appliedUs: number | null;
}

/** Where a WAL ends. */
export interface WalEnd {
  readonly checkpoint: Checkpoint;
  /** Which of the two places holds the checkpoint. */
  readonly slot: number;
  /** The sequence of the next record; it will start at `end`. */
  readonly next: number;
  readonly end: number;
  /** Where the last record starts; 0 if there is none. */
  readonly last: number;
  /** The last record's boot id; `null` if it has none, or there is no record yet. */
  readonly lastBoot: string | null;
}

/** What a runtime remembers about a WAL whose records are all applied. */
export interface WalTail extends WalEnd {
  readonly identity: string;
}

/** Whether a WAL is as it was. */
export const isSameTail = (a: WalTail, b: WalTail): boolean =>
  a.identity === b.identity && a.checkpoint.salt === b.checkpoint.salt && a.next === b.next && a.end === b.end;

/** A file in the WAL's place that cannot be read as one. */
export class WalDamaged extends Error {}

/**
 * Where a WAL's records begin, after the checkpoint that counts. Its salt is empty if there is none yet: then there are no
 * records either.
 */
export function startOfRecords(header: Buffer, owner: string): WalEnd {
  const found = checkpointOffsets.flatMap((at, slot) => {
    const checkpoint = decodeCheckpoint(header.subarray(at, at + checkpointBytesMax), owner);
    return checkpoint === null ? [] : [{ checkpoint, slot }];
  });
  if (found.length === 0 && header.some((byte, at) => byte !== 0 && at !== relaxedOffset)) {
    throw new WalDamaged("The WAL has no valid checkpoint");
  }
  const [newest = { checkpoint: noCheckpoint, slot: 1 }] = found.toSorted(
    (a, b) => b.checkpoint.first - a.checkpoint.first,
  );
  return { ...newest, next: newest.checkpoint.first, end: recordsStart, last: 0, lastBoot: null };
}

const noCheckpoint: Checkpoint = { version: writtenVersion, first: 1, salt: "" };

export interface FoundRecords {
  readonly records: readonly StoredRecord[];
  /** Where they end. Anything behind the last whole one was never acknowledged. */
  readonly at: WalEnd;
}

/** Reads all whole records from an end on. */
export function readRecords(file: DiskFile, kind: HomeKind, start: WalEnd): FoundRecords {
  const { salt, version } = start.checkpoint;
  const records: StoredRecord[] = [];
  // Anybody can make a record for an empty salt.
  if (salt === "") return { records, at: start };
  const size = file.size();
  if (size > walLimits.walBytesMax) throw new WalDamaged("The WAL is too large");
  for (let at = start; ;) {
    const { next, end: last } = at;
    const from = last + headBytesOf(version);
    const head = decodeHead(file.read(last, from - last));
    if (head === null || head.sequence !== next || from + head.bytes > size) return { records, at };
    const json = file.read(from, head.bytes);
    if (atOnce(checkOf(salt, next, json)) !== head.check) return { records, at };
    const record = decodeFiles(json, kind);
    if (record === null) return { records, at };
    records.push({ ...record, isApplied: head.isApplied, appliedUs: head.appliedUs });
    at = { ...at, next: next + 1, last, end: from + head.bytes, lastBoot: record.boot };
  }
}

/** Whether the WAL needs recovery. */
export function needsRecovery(
  { records, isDistrusted }: { readonly records: readonly StoredRecord[]; readonly isDistrusted: boolean },
  boot: string | null,
): boolean {
  return isDistrusted || isOfOtherBoot(records, boot) || records.at(-1)?.isApplied === false;
}

/** Whether any record is from before the machine's last start. A record without a boot id counts as such. */
export const isOfOtherBoot = (records: readonly StoredRecord[], boot: string | null): boolean =>
  records.some((record) => record.boot === null || record.boot !== boot);
