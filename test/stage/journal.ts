/** Journals of homes, byte for byte as the host writes them, with anything in them. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { noHash } from "../../host/log-file/chain.ts";
import * as format from "../../host/store/files/journal/format.ts";
import type { NewFrame } from "../../host/store/files/journal/format.ts";
import { digestOf } from "../../host/store/reading.ts";
import { atOnce } from "../../host/values/turns.ts";

export const { headBytes, headerBytes, journalLimits } = format;

/** A file of a frame, with its new content. */
interface JournaledFile {
  readonly scope: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: Buffer | null;
}

export interface JournaledChange {
  readonly boot: string | null;
  readonly files: readonly JournaledFile[];
}

export interface JournalOptions {
  /** The number of the first frame. */
  readonly first?: number;
  readonly isApplied?: boolean;
  /** Whether a flush has failed since. */
  readonly isDistrusted?: boolean | undefined;
  /** Of the segment's file. Default: none that it can have. */
  readonly inode?: string;
}

/** A segment without frames, of a user or of `stores/<uuid>`, and the hash of which its first frame is made. */
export function segmentOf(owner: string, { first = 1, isDistrusted = false, inode = "" }: JournalOptions = {}) {
  const header = { first, prev: noHash, head: { seq: 0, hash: noHash }, mark: "none", inode } as const;
  const state = { settled: first - 1, isRelaxed: false, isDistrusted };
  return format.encodeHeader(header, state, owner);
}

/** The bytes of a frame with facts that can be anything. */
export function frameOf(seq: number, before: string, facts: unknown, contents: NewFrame["contents"] = []): Buffer {
  const { head, body } = atOnce(
    format.encodeFrame(seq, before, { facts: facts as NewFrame["facts"], versions: [], contents }),
  );
  return Buffer.concat([head, body]);
}

/** A segment with the frame of one change, as it is when the host has written it, and perhaps applied it. */
export function segmentWith(owner: string, { boot, files }: JournaledChange, options: JournalOptions = {}): Buffer {
  const { bytes, hash } = segmentOf(owner, options);
  const contents = files.flatMap(({ after }) => (after === null ? [] : [{ sha256: sha256(after), content: after }]));
  const named = files.map(({ after, ...file }) => Object.assign(file, { after: after && sha256(after) }));
  const frame = frameOf(options.first ?? 1, hash, { boot, files: named }, contents);
  if (options.isApplied === true) frame.set(format.encodeApplied(null), format.appliedOffset);
  return Buffer.concat([bytes, frame]);
}

const sha256 = (bytes: Buffer): string => digestOf(bytes) ?? "";

/** The path of a home's last segment. `own`: the host's own folder. */
export function lastSegment(own: string): string {
  const names = readdirSync(join(own, "journal")).filter((name) => name.endsWith(".log"));
  return join(own, "journal", names.toSorted().at(-1) ?? "");
}

const firstIn = (segment: Buffer): number => Number(/"first":(\d+)/.exec(segment.toString("latin1"))?.[1] ?? 1);

/** What a segment has: its frames, up to which all is settled, and where they end. */
export function framesOf(segment: Buffer, owner: string) {
  const header = format.decodeHeader(segment, owner, firstIn(segment));
  if (header === null) throw new Error("The segment has no header");
  let place = { next: header.first, end: headerBytes, hash: header.hash };
  const read = (at: number, length: number): Buffer => segment.subarray(at, at + length);
  for (let found = format.readFrame(read, place); found !== null; found = format.readFrame(read, place)) {
    place = { next: found.seq + 1, end: found.end, hash: found.hash };
  }
  return { count: place.next - header.first, settled: header.state.settled, end: place.end };
}

/** Whether all that a home's journal names is settled. `own`: the host's own folder. */
export function isSettled(own: string, owner: string): boolean {
  const segment = readFileSync(lastSegment(own));
  const first = firstIn(segment);
  const { count, settled } = framesOf(segment, owner);
  return settled === first + count - 1;
}

/** Overwrites all contents of a segment, as a host does that forgets them. */
export function forgetContents(segment: string): void {
  const text = readFileSync(segment, "latin1");
  writeFileSync(
    segment,
    text.replaceAll(/^\{"sha256":.*$/gm, (line) => " ".repeat(line.length)),
    "latin1",
  );
}
