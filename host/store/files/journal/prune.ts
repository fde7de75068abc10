/**
 * What a journal need not keep, or must not: packs segments, drops what is too much or too old, and forgets contents that their
 * owner wants to be gone. Versions stay as they are, so their chain is whole.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { Directory } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import { besideMs, giveTurn, inTurns } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import { hashOfLine, headBytes, headerBytes, isVoiding, journalLimits } from "./format.ts";
import type { FoundFrame } from "./format.ts";
import { Segments, contentsName, logName, namedLines, overwrite, packedName, unpackedContents } from "./segments.ts";
import type { Segment, SegmentsSource } from "./segments.ts";

const compressed = promisify(gzip);

/** A segment as it is packed. */
export interface PackedSegment {
  readonly first: number;
  /** When its file was changed last before it was read. */
  readonly changedUs: number;
  readonly log: Buffer;
  readonly contents: Buffer;
}

/**
 * Packs the segments that are settled, without the last one, in a thread of the pool. Changes nothing yet, so it needs no lock: a segment
 * gets no further frames, only contents in it can be forgotten.
 */
export async function packSegments(from: SegmentsSource, settled: number): Promise<PackedSegment[]> {
  const segments = new Segments(from);
  const packed: PackedSegment[] = [];
  for (const [at, segment] of segments.all.entries()) {
    const next = segments.all[at + 1]?.first;
    const isWritten = segment.first >= from.last;
    if (segment.kind === "packed" || isWritten || next === undefined || next > settled + 1) continue;
    const changedUs = from.folder.measure(logName(segment.first))?.changedUs ?? 0;
    // A longer one would still be in memory when the next call has as much.
    const isLong = (from.folder.measure(logName(segment.first))?.bytes ?? 0) > 2 * journalLimits.segmentBytes;
    const parts = await inTurns(partsOf(segments, segment), isLong ? undefined : besideMs);
    if (parts !== null) packed.push({ first: segment.first, changedUs, ...(await pack(parts)) });
  }
  return packed;
}

/** The bytes of a packed segment. */
export async function pack({
  log,
  contents,
}: {
  readonly log: Buffer;
  readonly contents: Buffer;
}): Promise<Omit<PackedSegment, "first" | "changedUs">> {
  return { log: await compressed(log), contents: contents.length === 0 ? contents : await compressed(contents) };
}

/** `null` for a segment that has something behind its frames: it stays as it is, for a person to look at. */
function* partsOf(
  segments: Segments,
  segment: Segment,
): Pieces<{ readonly log: Buffer; readonly contents: Buffer } | null> {
  const { bytes, frames, header } = segments.framesIn(segment);
  const lines = [bytes.subarray(0, headerBytes)];
  const found: FoundFrame[] = [];
  for (const frame of frames) {
    yield;
    lines.push(bytes.subarray(frame.at, frame.contentsAt));
    found.push(frame);
  }
  const end = found.at(-1)?.end ?? headerBytes;
  const isWhole = header !== null && bytes.subarray(end, end + headBytes).every((byte) => byte === 0);
  if (!isWhole) return null;
  const contents: Buffer[] = [];
  for (const [at, frame] of found.entries()) {
    const next = found[at + 1] ?? segments.firstBehind(segment);
    // Of a change that was taken back, nobody needs them.
    if (next !== undefined && isVoiding(next.facts)) continue;
    for (const line of namedLines(bytes, frame)) {
      yield;
      contents.push(bytes.subarray(line.at, line.at + line.bytes + 1));
    }
  }
  return { log: Buffer.concat(lines), contents: Buffer.concat(contents) };
}

/** Puts packed segments into the places of those that they are made from, durably, unless somebody has changed these. */
export async function placePacked(folder: Directory, packed: readonly PackedSegment[]): Promise<void> {
  const placed = packed.filter(({ first, changedUs }) => folder.measure(logName(first))?.changedUs === changedUs);
  for (const each of placed) await placeOne(folder, each);
  if (placed.length > 0) await folder.flush();
  for (const { first } of placed) folder.remove(logName(first));
}

/** Durable once the folder is flushed. */
export async function placeOne(
  folder: Directory,
  { first, log, contents }: Omit<PackedSegment, "changedUs">,
): Promise<void> {
  if (contents.length > 0) await replace(folder, contentsName(first), contents);
  // Of a packing that a crash has interrupted.
  else remove(folder, contentsName(first));
  await replace(folder, packedName(first), log);
}

const replace = (folder: Directory, shown: string, content: Buffer): Promise<void> =>
  replaceFile(folder, shown, { content, shown, staged: "staged-packed" });

/** How many bytes packed versions of a home take. A call with two files takes a quarter of a KB. */
const versionBytesMax = 8 * 1024 * 1024;

/** Removes the oldest packed contents beyond so many bytes. */
export function dropContents(folder: Directory, segments: readonly Segment[], bytesMax: number): void {
  for (const { first } of beyond(folder, segments, { nameOf: contentsName, bytesMax }))
    remove(folder, contentsName(first));
}

/** The oldest packed segments that are too much. */
export const segmentsToDrop = (folder: Directory, segments: readonly Segment[]): Segment[] =>
  beyond(folder, segments, { nameOf: packedName, bytesMax: versionBytesMax });

/** `present.json` must say what they have left. */
export function dropSegments(folder: Directory, dropped: readonly Segment[]): void {
  for (const { first } of dropped) for (const name of [contentsName(first), packedName(first)]) remove(folder, name);
}

/** The oldest packed segments, without which the others take at most so many bytes. */
function beyond(
  folder: Directory,
  segments: readonly Segment[],
  { nameOf, bytesMax }: { readonly nameOf: (first: number) => string; readonly bytesMax: number },
): Segment[] {
  const sizes = segments
    .filter(({ kind }) => kind === "packed")
    .map((segment) => ({ segment, bytes: folder.measure(nameOf(segment.first))?.bytes ?? 0 }));
  let left = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  return sizes.flatMap(({ segment, bytes }) => {
    if (left <= bytesMax) return [];
    left -= bytes;
    return [segment];
  });
}

function remove(folder: Directory, name: string): void {
  if (folder.measure(name) !== null) folder.remove(name);
}

/**
 * Forgets contents for good, durably. Those of frames that are not settled stay: recovery needs them. Of packed ones, all of a segment go if
 * there is no room to write it again.
 */
export async function forgetContents(
  from: SegmentsSource,
  hashes: ReadonlySet<string>,
  settled: number,
): Promise<void> {
  if (hashes.size === 0) return;
  const segments = new Segments(from);
  for (const segment of segments.all) {
    await giveTurn();
    // A packing that a crash has interrupted leaves them beside a segment that is not packed.
    await forgetPacked(from.folder, segment.first, hashes);
    if (segment.kind === "packed") continue;
    const isGone = (line: string): boolean => hashes.has(hashOfLine(line));
    const gone = Array.from(segments.contentLines(segment, ({ seq }) => (seq <= settled ? isGone : null)));
    if (gone.length === 0) continue;
    using file = from.folder.openFile(logName(segment.first), logName(segment.first), "write");
    if (file === null) continue;
    overwrite(file, gone);
    await file.flush();
  }
  await from.folder.flush();
}

async function forgetPacked(folder: Directory, first: number, hashes: ReadonlySet<string>): Promise<void> {
  const lines = Array.from(unpackedContents(folder, first), ({ line }) => line);
  const left = lines.filter((line) => !hashes.has(hashOfLine(line)));
  // Nobody can say what is in a damaged one.
  const isThere = folder.entries().some(({ name, kind }) => name === contentsName(first) && kind !== "folder");
  const isDamaged = isThere && lines.length === 0;
  if (left.length === lines.length && !isDamaged) return;
  try {
    if (left.length === 0) remove(folder, contentsName(first));
    else
      await replace(
        folder,
        contentsName(first),
        await compressed(Buffer.from(left.map((line) => `${line}\n`).join(""))),
      );
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    remove(folder, contentsName(first));
  }
}
