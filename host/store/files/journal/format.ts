/** The bytes of a journal. `host/store/JOURNAL.md` describes every field. */
import { createHash, hash } from "node:crypto";

import { isScopePath, scopeName } from "../../../../shared/path.ts";
import * as z from "../../../../shared/zod.ts";
import { noHash } from "../../../log-file/chain.ts";
import type { Place } from "../../../values/change-set.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import { decodeBytes, digestOf, jsonOfBytes, parseJson } from "../../reading.ts";
import { sha256Schema } from "../../versions/version.ts";
import type { VersionHead } from "../../versions/version.ts";
import { hasPlace, hostFolder } from "../home.ts";
import type { HomeKind } from "../home.ts";

const mib = 1024 * 1024;

/** Bounds of a journal. */
export const journalLimits = {
  /** A segment that is as long gets no further frame. */
  segmentBytes: 4 * mib,
  /** A segment that has grown beyond this, because its files could not be flushed, gets no further frame either. */
  longBytes: 64 * mib,
  /**
   * When any of these is reached, the files are flushed that the frames name. Higher limits mean fewer flushes for each
   * call. But whoever opens the journal after a crash then needs longer to judge them.
   */
  settleBytes: 4 * mib,
  settleFrames: 512,
  settleFiles: 128,
  /** A larger file is no segment of ours. One change set can hold 80 MiB, of which JSON makes six times as much. */
  fileBytesMax: 512 * mib,
  /** The lines of a packed segment. What is more counts as gone: a small file can hold a thousand times its size. */
  packedLinesMax: 64 * mib,
} as const;

/** The version of the format. */
const version = 4;

/** Of the first two lines. One sector of a disk holds them, so a crash leaves both or none. */
export const headerBytes = 512;

/** `lost`: versions are missing; `late`: there were files before the first one. */
export const historyMarks = ["none", "late", "lost"] as const;
export type HistoryMark = (typeof historyMarks)[number];

export interface SegmentHeader {
  /** The number of its first frame. */
  readonly first: number;
  /** The hash of the frame before that. */
  readonly prev: string;
  /** The last version before that. */
  readonly head: VersionHead;
  readonly mark: HistoryMark;
  /** Of its file. */
  readonly inode: string;
}

/** What is overwritten in its place. */
export interface SegmentState {
  /** All files up to this frame are on the disk. */
  readonly settled: number;
  /** The folders that lead to it were perhaps never flushed. */
  readonly isRelaxed: boolean;
  /** A flush has failed. */
  readonly isDistrusted: boolean;
}

const digits = 12;
const fixed = (number: number): string => String(number).padStart(digits);
const ownerOf = (owner: string): string => hash("sha256", owner).slice(0, 32);

const lineOf = ({ first, prev, head, mark, inode }: SegmentHeader, owner: string): string =>
  JSON.stringify({
    journal: version,
    first,
    owner: ownerOf(owner),
    prev,
    version: head.seq,
    versionHash: head.hash,
    mark,
    inode,
  });

/** Returns the bytes, and the hash of which the first frame's is made. */
export function encodeHeader(
  header: SegmentHeader,
  state: SegmentState,
  owner: string,
): { bytes: Buffer; hash: string } {
  const line = lineOf(header, owner);
  const bytes = Buffer.alloc(headerBytes, " ");
  bytes.write(`${line}\n${encodeState(state)}`, "latin1");
  bytes.write("\n", headerBytes - 1, "latin1");
  return { bytes, hash: hash("sha256", line) };
}

export const encodeState = ({ settled, isRelaxed, isDistrusted }: SegmentState): string =>
  `{"settled":${fixed(settled)},"relaxed":${Number(isRelaxed)},"distrusted":${Number(isDistrusted)}}`;

/** In the beginning of a segment that says that a flush has failed. */
export const distrustedState = '"distrusted":1';

/** Names of segments have twelve digits; beyond this, no number is believed. */
export const seqMax = 999_000_000_000;

const count = z.int().check(z.nonnegative(), z.maximum(seqMax));
const headerSchema = z.strictObject({
  journal: z.literal(version),
  first: z.int().check(z.minimum(1), z.maximum(seqMax)),
  owner: z.string(),
  prev: sha256Schema,
  version: count,
  versionHash: sha256Schema,
  mark: z.enum(historyMarks),
  inode: z.string(),
});
const stateSchema = z.strictObject({
  settled: count,
  relaxed: z.literal([0, 1]),
  distrusted: z.literal([0, 1]),
});

export interface ReadHeader extends SegmentHeader {
  /** Of its first line. */
  readonly hash: string;
  readonly state: SegmentState;
  /** Where the second line begins. */
  readonly stateAt: number;
}

/** A file in a journal's place that cannot be read as one. */
export class JournalDamaged extends ToolError {
  /** The segment; `null` if it is the log of an earlier format. */
  readonly segment: number | null;

  constructor(message: string, segment: number | null = null) {
    super("STORAGE_UNSAFE", `Cannot use the folder: ${message}`);
    this.segment = segment;
  }
}

/**
 * `null` if there is none yet. `segment`: the number in the file's name. Throws `JournalDamaged` for what is none, and `STORAGE_UNSAFE` for that of a later version of
 * the format.
 */
export function decodeHeader(bytes: Buffer, owner: string, segment: number): ReadHeader | null {
  const header = bytes.subarray(0, headerBytes);
  if (header.every((byte) => byte === 0)) return null;
  const [line = "", state = ""] = header.toString("latin1").split("\n");
  const found = parseJson(line);
  refuseLater(found);
  const read = z.safeParse(headerSchema, found).data;
  const now = z.safeParse(stateSchema, parseJson(state)).data;
  if (read?.owner !== ownerOf(owner) || read.first !== segment || now === undefined)
    throw new JournalDamaged("its journal has no valid beginning", segment);
  const { first, prev, mark, inode } = read;
  return {
    first,
    prev,
    mark,
    inode,
    head: { seq: read.version, hash: read.versionHash },
    hash: hash("sha256", line),
    state: { settled: now.settled, isRelaxed: now.relaxed === 1, isDistrusted: now.distrusted === 1 },
    stateAt: line.length + 1,
  };
}

function refuseLater(found: unknown): void {
  const { data } = z.safeParse(z.object({ journal: z.int().check(z.minimum(version + 1)) }), found);
  if (data === undefined) return;
  const message = `Cannot use the folder: its journal has format ${data.journal}, which a later memcell has written; expected at most ${version}`;
  throw new ToolError("STORAGE_UNSAFE", message);
}

const headLine =
  /^\{"frame": *(\d+),"bytes": *(\d+),"contents": *(\d+),"hash":"([0-9a-f]{64})","applied":"([+-])([\d-]{16})"\}\n$/;
const timeDigits = 16;
/** It has no digit, so a time that a crash has left in part is none. */
const noTime = "-".repeat(timeDigits);

const encodeHead = (frame: number, bytes: number, contents: number, sum: string): string =>
  `{"frame":${fixed(frame)},"bytes":${fixed(bytes)},"contents":${fixed(contents)},"hash":"${sum}","applied":"-${noTime}"}\n`;

/** Bytes of a frame's first line. */
export const headBytes = encodeHead(0, 0, 0, noHash).length;
/** Where in it is what is written once the frame is applied. */
export const appliedOffset = headBytes - `-${noTime}"}\n`.length;

/** `appliedUs`: when, by the file system's clock; `null` if that is unknown. */
export const encodeApplied = (appliedUs: number | null): Buffer =>
  Buffer.from(appliedUs === null ? "+" : `+${String(appliedUs).padStart(timeDigits, "0")}`);

/** A content, with the SHA-256 by which versions and frames name it. */
export interface HashedContent {
  readonly sha256: string;
  readonly content: Buffer;
}

export interface NewFrame {
  readonly facts: FrameFacts;
  readonly versions: readonly string[];
  readonly contents: readonly HashedContent[];
}

export interface EncodedFrame {
  readonly head: Buffer;
  readonly body: Buffer;
  readonly hash: string;
}

/** `before`: the hash of the frame before. */
export function* encodeFrame(
  frame: number,
  before: string,
  { facts, versions, contents }: NewFrame,
): Pieces<EncodedFrame> {
  const lines = Buffer.from([JSON.stringify(facts), ...versions, ""].join("\n"));
  const pieces: Buffer[] = [lines];
  for (const each of contents) {
    yield;
    pieces.push(...contentLine(each));
  }
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const body = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const piece of pieces) {
    yield;
    body.set(piece, at);
    at += piece.length;
  }
  const sum = hashOf(before, { seq: frame, bytes: lines.length, contents: bytes - lines.length }, lines);
  const head = Buffer.from(encodeHead(frame, lines.length, bytes - lines.length, sum));
  return { head, body, hash: sum };
}

/** The pieces of a content's line. */
export const contentLine = ({ sha256, content }: HashedContent): Buffer[] => [
  Buffer.from(`{"sha256":"${sha256}",`),
  jsonOfBytes(content).subarray(1),
  lineFeed,
];

const lineFeed = Buffer.from("\n");

interface Measures {
  readonly seq: number;
  readonly bytes: number;
  readonly contents: number;
}

const hashOf = (before: string, { seq, bytes, contents }: Measures, lines: Uint8Array): string =>
  createHash("sha256").update(`${before} ${seq} ${bytes} ${contents}\n`).update(lines).digest("hex");

/** Whether a file of a home can be in a scope of this name. */
const isScope = (text: string): boolean => scopeName.test(text) || text === hostFolder;
const places = { scope: z.string().check(z.refine(isScope)), path: z.string().check(z.refine(isScopePath)) };

/**
 * What a frame says, and a record of earlier formats; `after`: how it tells a file's new content. Validated as strictly as a
 * guest's request: it is read from a disk that others can write to.
 */
export const factsFields = <After extends z.ZodMiniType>(after: After) => ({
  /** The boot id when the frame was written; `null` if the system has none. */
  boot: z.nullable(z.string()),
  /** When the last of the new contents was written, before they were put in place, by the file system's clock. */
  stagedUs: z.optional(z.int().check(z.nonnegative())),
  /** Set by recovery: it has judged all earlier frames. Lists the files that it leaves as a person has made them. */
  kept: z.optional(z.readonly(z.array(z.strictObject(places)))),
  files: z.readonly(
    z.array(
      z.strictObject({
        ...places,
        /** The inodes of the folders on the way to the file, the deepest last, when the frame was written. */
        way: z.optional(z.readonly(z.array(z.string()))),
        /** SHA-256 of the old content; `null` if there was no file. */
        before: z.nullable(sha256Schema),
        /** The new content; `null` if the file is removed. */
        after: z.nullable(after),
      }),
    ),
  ),
  /** The frame before does not count: somebody has edited its files meanwhile. */
  voids: z.optional(z.literal(true)),
});

const factsSchema = z.strictObject(factsFields(sha256Schema));

export type FrameFacts = z.infer<typeof factsSchema>;

/** The facts of a frame; `null` if they are none. */
export function decodeFacts(line: string, kind: HomeKind): FrameFacts | null {
  const facts = z.safeParse(factsSchema, parseJson(line)).data ?? null;
  return facts !== null && hasPlaces(kind, facts) ? facts : null;
}

interface NamedPlaces {
  readonly files: readonly Place[];
  readonly kept?: readonly Place[] | undefined;
}

/** Whether a home of this kind has all files that are named. */
export const hasPlaces = (kind: HomeKind, { files, kept = [] }: NamedPlaces): boolean =>
  [...files, ...kept].every(({ scope, path }) => hasPlace(kind, scope, path));

/** Whether the change of the frame before does not count. Costs less than to decode the facts. */
export const isVoiding = (facts: string): boolean => facts.endsWith(',"voids":true}');

/** Whether nobody needs all texts of a frame once it is settled: those of records, such as a write that waits, or of a change taken back. */
export const isPassing = ({ facts }: Pick<FoundFrame, "facts">): boolean =>
  isVoiding(facts) || facts.includes(`"scope":"${hostFolder}"`);

/** A frame as it was found. */
export interface FoundFrame {
  readonly seq: number;
  /** Where its first line is, and where the next frame begins. */
  readonly at: number;
  readonly end: number;
  readonly hash: string;
  readonly isApplied: boolean;
  readonly appliedUs: number | null;
  readonly facts: string;
  readonly versions: readonly string[];
  /** Where its contents are. */
  readonly contentsAt: number;
}

/** Where a frame is looked for. */
export interface FramePlace {
  readonly next: number;
  readonly end: number;
  /** The hash of the frame before. */
  readonly hash: string;
}

/** Reads a part of a segment; fewer bytes at its end. */
export type ReadPart = (at: number, length: number) => Buffer;

/** The frame in a place; `null` if none that counts is there. `hasContents`: not in a packed segment. */
export function readFrame(
  read: ReadPart,
  { next, end: at, hash: before }: FramePlace,
  hasContents = true,
): FoundFrame | null {
  const found = headLine.exec(read(at, headBytes).toString("latin1"));
  if (!found) return null;
  const [, seq, bytes, contents, sum = "", sign, time = noTime] = found;
  const measures = { seq: Number(seq), bytes: Number(bytes), contents: Number(contents) };
  const contentsAt = at + headBytes + measures.bytes;
  const end = contentsAt + (hasContents ? measures.contents : 0);
  if (measures.seq !== next || end > journalLimits.fileBytesMax) return null;
  const lines = read(at + headBytes, measures.bytes);
  if (lines.length < measures.bytes || hashOf(before, measures, lines) !== sum) return null;
  const [facts = "", ...versions] = lines.toString("utf8", 0, Math.max(0, lines.length - 1)).split("\n");
  const appliedUs = time.includes("-") ? null : Number(time);
  return { seq: next, at, end, hash: sum, isApplied: sign === "+", appliedUs, facts, versions, contentsAt };
}

/** A line of contents, or of what is left of one. */
export interface FoundContent {
  readonly at: number;
  readonly bytes: number;
  /** `null` if it was forgotten. */
  readonly line: string | null;
}

/** The lines of contents between two places. */
export function* contentLines(bytes: Buffer, offset = 0): Generator<FoundContent> {
  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf("\n", at);
    const end = feed < 0 ? bytes.length : feed;
    const line = bytes[at] === space ? null : bytes.toString("utf8", at, end);
    yield { at: offset + at, bytes: end - at, line };
    at = end + 1;
  }
}

const space = " ".charCodeAt(0);

const lineStart = '{"sha256":"';

/** The hash of a line that a host has written; of another one, anything. */
export const hashOfLine = (line: string): string => line.slice(lineStart.length, lineStart.length + 64);

const contentSchema = z.union([
  z.strictObject({ sha256: sha256Schema, text: z.string() }),
  z.strictObject({ sha256: sha256Schema, base64: z.string() }),
]);

/** `null` for what is none, or is not what its hash says. */
export function decodeContent(line: string): HashedContent | null {
  const found = z.safeParse(contentSchema, parseJson(line)).data;
  if (found === undefined) return null;
  const content = decodeBytes(found);
  return digestOf(content) === found.sha256 ? { sha256: found.sha256, content } : null;
}
