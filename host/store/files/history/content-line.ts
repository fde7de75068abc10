/**
 * A content as a line of JSON: in full, or as what differs from another content that stands before it in the same
 * segment. A tool writes its whole index again for one more line, so most contents differ little from the one before.
 */
import * as z from "../../../../shared/zod.ts";
import type { Pieces } from "../../../values/turns.ts";
import { digestOf, encodeBytes, parseJson } from "../../reading.ts";
import { placeKey } from "../../versions/present-origins.ts";
import { readLine, sha256Schema } from "../../versions/version.ts";
import type { PlannedVersion, Version, VersionedFile } from "../../versions/version.ts";
import type { WalRecord } from "../commit/wal-format.ts";

/** A content that a version has written, by its place. */
export interface WrittenContent {
  readonly key: string;
  readonly sha256: string;
  readonly content: Buffer;
}

/** A version with the contents that it has written. */
export interface WrittenVersion extends PlannedVersion {
  readonly contents: readonly WrittenContent[];
}

/** The contents that a version has written, as far as they are found. What was moved is there already. */
export function writtenBy(
  { files }: Version,
  find: (file: Pick<VersionedFile, "scope" | "path">, sha256: string) => Buffer | null | undefined,
): WrittenContent[] {
  return files.flatMap(({ scope, path, sha256, from }) => {
    if (sha256 === null || from !== undefined) return [];
    const content = find({ scope, path }, sha256);
    return content ? [{ key: placeKey({ scope, path }), sha256, content }] : [];
  });
}

/** A version of the WAL, which is not in the history yet. As text: many wait, and few are looked at. */
export interface QueuedVersion {
  readonly seq: number;
  readonly line: string;
  /** Lines with the contents that it has written. */
  readonly contents: readonly string[];
}

export function* queuedVersions(versions: readonly WrittenVersion[], bases: ContentBases): Pieces<QueuedVersion[]> {
  const queued: QueuedVersion[] = [];
  for (const { version, line, contents } of versions) {
    const lines: string[] = [];
    for (const each of contents) {
      yield;
      lines.push(bases.encode(each));
    }
    queued.push({ seq: version.seq, line, contents: lines });
  }
  return queued;
}

/** The versions of records, without those of changes that were taken back. */
export function* versionsInRecords(
  records: readonly Pick<WalRecord, "versions" | "edited" | "files" | "voids">[],
): Pieces<QueuedVersion[]> {
  const bases = new ContentBases();
  const queued: QueuedVersion[] = [];
  for (const [at, { versions = [], edited = [], files }] of records.entries()) {
    yield;
    if (versions.length === 0 || records[at + 1]?.voids) continue;
    const byDigest = new Map<string | null, Buffer>();
    for (const content of [...edited, ...files.flatMap(({ after }) => after ?? [])]) {
      yield;
      byDigest.set(digestOf(content), content);
    }
    const read = versions.flatMap((line) => readLine(line) ?? []);
    const written = read.map((each) =>
      Object.assign(each, { contents: writtenBy(each.version, (_, sha256) => byDigest.get(sha256)) }),
    );
    queued.push(...(yield* queuedVersions(written, bases)));
  }
  return queued;
}

/** How many bytes of a home's contents are remembered. */
const basesBytesMax = 256 * 1024;

/** The last contents of files in the segment that is written to: the next version of a file is told from them. */
export class ContentBases {
  readonly #bases = new Map<string, ContentBase>();
  #bytes = 0;

  /** Returns the line of a content, and remembers it. */
  encode({ key, sha256, content }: WrittenContent): string {
    const base = this.#bases.get(key) ?? null;
    const like = base && likeness(base, content);
    const told = like ? content.subarray(like.head, content.length - like.tail) : content;
    this.#bytes -= base?.content.length ?? 0;
    this.#bases.delete(key);
    if (content.length <= basesBytesMax) {
      if (this.#bytes + content.length > basesBytesMax) this.clear();
      this.#bases.set(key, { sha256, content, depth: base && like ? base.depth + 1 : 0 });
      this.#bytes += content.length;
    }
    return JSON.stringify({ sha256, ...encodeBytes(told), ...(like && { like }) });
  }

  /** Another segment begins. */
  clear(): void {
    this.#bases.clear();
    this.#bytes = 0;
  }
}

/** A content that later ones can be told from. */
interface ContentBase {
  readonly sha256: string;
  readonly content: Buffer;
  /** How many others it is told from itself. */
  readonly depth: number;
}

/** To read a content is to read all those that it is told from. */
const depthMax = 32;
/** A smaller gain is not worth the further read. */
const gainBytesMin = 256;

const count = z.int().check(z.nonnegative());
const lineSchema = z.strictObject({
  sha256: sha256Schema,
  text: z.optional(z.string()),
  base64: z.optional(z.string()),
  /** The other content, and how many bytes of its beginning and end are the same. */
  like: z.optional(z.strictObject({ sha256: sha256Schema, head: count, tail: count })),
});

export type ContentLine = z.infer<typeof lineSchema>;

/** `null` if the text is not a content's line. */
export function parseContent(line: string): ContentLine | null {
  const parsed = z.safeParse(lineSchema, parseJson(line));
  return parsed.success ? parsed.data : null;
}

/** Returns the content of a line; `null` if it is not what its hash says. `baseOf` finds the other content. */
function decodeContent(
  { sha256: digest, text, base64, like }: ContentLine,
  baseOf: (sha256: string) => Buffer | null,
): Buffer | null {
  const middle = text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text);
  const content = like === undefined ? middle : around(middle, like, baseOf(like.sha256));
  return content !== null && digestOf(content) === digest ? content : null;
}

function around(middle: Buffer, { head, tail }: NonNullable<ContentLine["like"]>, base: Buffer | null): Buffer | null {
  if (base === null || head + tail > base.length) return null;
  return Buffer.concat([base.subarray(0, head), middle, base.subarray(base.length - tail)]);
}

/** A content among a segment's lines. One that is told from another has it before itself. */
export function contentIn(lines: readonly string[], sha256: string, before: number = lines.length): Buffer | null {
  const at = lines.findLastIndex((line, index) => index < before && isLineOf(line, sha256));
  const found = at < 0 ? null : parseContent(lines[at] ?? "");
  return found && decodeContent(found, (base) => contentIn(lines, base, at));
}

const lineStart = '{"sha256":"';

/** The hash of a line that a host has written; of another one, anything. */
export const hashOfLine = (line: string): string => line.slice(lineStart.length, lineStart.length + 64);

const isLineOf = (line: string, digest: string): boolean => line.startsWith(`${lineStart}${digest}"`);

/**
 * The contents of a segment, in the order of its lines, without damaged ones. Of those that others are told from, only
 * these are held: a segment of differences can hold a hundred times its size.
 */
export function* contentsOfSegment(
  lines: readonly string[],
): Generator<{ readonly sha256: string; readonly content: Buffer }> {
  const parsed = lines.map(parseContent).filter((line) => line !== null);
  const lastUses = new Map<string, number>();
  for (const [at, { like }] of parsed.entries()) if (like !== undefined) lastUses.set(like.sha256, at);
  const bases = new Map<string, Buffer>();
  for (const [at, line] of parsed.entries()) {
    const { sha256, like } = line;
    const content = decodeContent(line, (base) => bases.get(base) ?? null);
    if (like !== undefined && lastUses.get(like.sha256) === at) bases.delete(like.sha256);
    if (content === null) continue;
    if ((lastUses.get(sha256) ?? 0) > at) bases.set(sha256, content);
    yield { sha256, content };
  }
}

/** What a content has in common with another one; `null` if to tell it from that gains too little. */
function likeness({ sha256, content: base, depth }: ContentBase, content: Buffer): ContentLine["like"] | null {
  if (depth >= depthMax) return null;
  const [b, c] = [base.length, content.length];
  const most = Math.min(b, c);
  const head = sameBytes(most, (at, end) => base.compare(content, at, end, at, end) === 0);
  const tail = sameBytes(most - head, (at, end) => base.compare(content, c - end, c - at, b - end, b - at) === 0);
  return head + tail < gainBytesMin ? null : { sha256, head, tail };
}

const blockBytes = 4096;

/** How many bytes are the same, of at most `most`. Halves the blocks: a loop over bytes takes ten times as long. */
function sameBytes(most: number, isSame: (at: number, end: number) => boolean): number {
  let same = 0;
  for (let block = blockBytes; block >= 1; block /= 2) {
    while (same + block <= most && isSame(same, same + block)) same += block;
  }
  return same;
}
