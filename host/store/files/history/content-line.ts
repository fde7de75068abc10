/**
 * A content as a line of JSON: in full, or as what differs from another content that stands before it in the same
 * segment. A tool writes its whole index again for one more line, so most contents differ little from the one before.
 */
import * as z from "../../../../shared/zod.ts";
import { digestOf, encodeBytes, parseJson } from "../../reading.ts";
import { sha256Schema } from "../../versions/version.ts";
import type { WrittenContent } from "../commit/wal-format.ts";

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
export const parseContent = (line: string): ContentLine | null => z.safeParse(lineSchema, parseJson(line)).data ?? null;

/** The content of a line; `null` if it is not what its hash says. `base`: the one that it is told from. */
function decodeContent({ sha256, text, base64, like }: ContentLine, base: Buffer | undefined): Buffer | null {
  let content = text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text);
  if (like !== undefined) {
    if (base === undefined || like.head + like.tail > base.length) return null;
    content = Buffer.concat([base.subarray(0, like.head), content, base.subarray(base.length - like.tail)]);
  }
  return digestOf(content) === sha256 ? content : null;
}

const lineStart = '{"sha256":"';

/** The hash of a line that a host has written; of another one, anything. */
const hashOfLine = (line: string): string => line.slice(lineStart.length, lineStart.length + 64);

/**
 * The contents of a segment that are wanted, in the order of its lines, without damaged ones; and nothing where others can
 * have a turn. Of those that others are told from, only these are held: a segment of differences can hold a hundred times
 * its size.
 */
export function* contentsOfSegment(
  lines: readonly string[],
  isWanted: (sha256: string) => boolean = () => true,
): Generator<Pick<WrittenContent, "sha256" | "content"> | void> {
  const used: ContentLine[] = [];
  /** By the hash of a content: the last line that is told from it. */
  const lastUses = new Map<string, ContentLine>();
  for (const text of lines.toReversed()) {
    const hash = hashOfLine(text);
    if (!isWanted(hash) && !lastUses.has(hash)) continue;
    yield;
    const line = parseContent(text);
    if (line === null) continue;
    used.push(line);
    if (line.like !== undefined && !lastUses.has(line.like.sha256)) lastUses.set(line.like.sha256, line);
  }
  const bases = new Map<string, Buffer>();
  for (const line of used.toReversed()) {
    const { sha256, like } = line;
    const content = decodeContent(line, bases.get(like?.sha256 ?? ""));
    if (like !== undefined && lastUses.get(like.sha256) === line) {
      bases.delete(like.sha256);
      lastUses.delete(like.sha256);
    }
    if (content !== null && lastUses.has(sha256)) bases.set(sha256, content);
    yield content !== null && isWanted(sha256) ? { sha256, content } : undefined;
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
