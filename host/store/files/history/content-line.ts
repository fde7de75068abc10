/**
 * A content as a line of JSON: in full, or as what differs from another content that stands before it in the same
 * segment. A tool writes its whole index again for one more line, so most contents differ little from the one before.
 */
import * as z from "../../../../shared/zod.ts";
import { parseJson } from "../../parse-json.ts";
import { digestOf } from "../../reading.ts";
import { encodeBytes } from "../../stored-bytes.ts";

/** A content that later ones can be told from. */
export interface ContentBase {
  readonly sha256: string;
  readonly content: Buffer;
  /** How many others it is told from itself. */
  readonly depth: number;
}

/** To read a content is to read all those that it is told from. */
const depthMax = 32;
/** A smaller gain is not worth the further read. */
const gainBytesMin = 256;

const hashSchema = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());
const piece = { text: z.optional(z.string()), base64: z.optional(z.string()) };
const lineSchema = z.strictObject({
  sha256: hashSchema,
  ...piece,
  /** The other content, and how many bytes of its beginning and end are the same. */
  like: z.optional(z.strictObject({ sha256: hashSchema, head: count, tail: count })),
});

export type ContentLine = z.infer<typeof lineSchema>;

/** Returns the line, and what it is a base for. */
export function encodeContent(
  digest: string,
  content: Buffer,
  base: ContentBase | null,
): { readonly line: string; readonly depth: number } {
  const like = base && base.depth < depthMax ? likeness(base.content, content) : null;
  if (base === null || like === null || like.head + like.tail < gainBytesMin) {
    return { line: JSON.stringify({ sha256: digest, ...encodeBytes(content) }), depth: 0 };
  }
  const middle = content.subarray(like.head, content.length - like.tail);
  const line = { sha256: digest, ...encodeBytes(middle), like: { sha256: base.sha256, ...like } };
  return { line: JSON.stringify(line), depth: base.depth + 1 };
}

/** `null` if the text is not a content's line. */
export function parseContent(line: string): ContentLine | null {
  const parsed = z.safeParse(lineSchema, parseJson(line));
  return parsed.success ? parsed.data : null;
}

/** Returns the content of a line; `null` if it is not what its hash says. `baseOf` finds the other content. */
export function decodeContent(
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
  const uses = new Map<string, number>();
  for (const { like } of parsed) if (like !== undefined) uses.set(like.sha256, (uses.get(like.sha256) ?? 0) + 1);
  const bases = new Map<string, Buffer>();
  for (const line of parsed) {
    const content = decodeContent(line, (sha256) => bases.get(sha256) ?? null);
    if (line.like !== undefined) {
      const left = (uses.get(line.like.sha256) ?? 0) - 1;
      uses.set(line.like.sha256, left);
      if (left <= 0) bases.delete(line.like.sha256);
    }
    if (content === null) continue;
    if ((uses.get(line.sha256) ?? 0) > 0) bases.set(line.sha256, content);
    yield { sha256: line.sha256, content };
  }
}

function likeness(base: Buffer, content: Buffer): { head: number; tail: number } {
  const [b, c] = [base.length, content.length];
  const most = Math.min(b, c);
  const head = sameBytes(most, (at, end) => base.compare(content, at, end, at, end) === 0);
  const tail = sameBytes(most - head, (at, end) => base.compare(content, c - end, c - at, b - end, b - at) === 0);
  return { head, tail };
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
