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

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());
const piece = { text: z.optional(z.string()), base64: z.optional(z.string()) };
const lineSchema = z.strictObject({
  sha256,
  ...piece,
  /** The other content, and how many bytes of its beginning and end are the same. */
  like: z.optional(z.strictObject({ sha256, head: count, tail: count })),
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
